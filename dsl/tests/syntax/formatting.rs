//! One form: idempotent, keeps comments, leaves the shipped files alone.

use fusec_dsl::format::format;

#[test]
fn shipped_files_are_formatted() {
    let mut wrong = Vec::new();
    for (name, text) in crate::shipped() {
        let formatted = format(&text).unwrap_or_else(|e| panic!("{name}: {e:?}"));
        if text == formatted {
            continue;
        }
        let mut pairs = text.lines().zip(formatted.lines()).enumerate();
        match pairs.find(|(_, (is, should))| is != should) {
            Some((i, (is, should))) => wrong.push(format!("{name}:{}\n- {is}\n+ {should}", i + 1)),
            None => wrong.push(format!("{name}: differs at its end")),
        }
    }
    assert!(wrong.is_empty(), "run `fusec fmt passes`\n{}", wrong.join("\n"));
}

#[test]
fn errors_leave_the_file_alone() {
    assert_eq!(format("op f(x y)").expect_err("does not parse").len(), 1);
}

const UGLY: &str = r#"
// Before everything.

//! The file.
//!More.
pass    p where target.sm>=80


// About f.


/// Adds.
///
///   Indented.
op f < T : bf16|f16 , > ( x:T[ b.. ,2 * d+1 ] , y : T[d]? = none , ..) -> (q:T[d/2],
   s : f32[round_up(n,128)]) collective where d%2==0, numel( y )==1 { // after the brace
// above a

   a = cast( x , f32 )*( 1.0/y )-(b)   // after a



   q = f(a , // first
     [1,2 , ] , // second
     // before keepdim
     keepdim)
     // at the end
   s = a
} // after f
op g(x:_)->_ primitive commutative
op h(x:_)->_ primitive // short

op i(x:_)->_ opaque
enum e{a,b} enum wide { aaaaaaaaaaaaaaaaaaaaaaaaaaaaa, bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb, cccccccccccccccccccccc, dd }
bind f(x,row_major,none,-1.0)->(q,s)
 torch "a.b.c"( x , y=z out s,out q , _ )
 // the other
 torch "a.\"b\".d"(x)
variant family fam<T:half>(x:T[n]) { one(a:int , b : bool) block=1 other = 2
 a_longer_name // the name
 two(a : int)    block = a }
rewrite approx( 1 ulp ) r(x:_)->y { f(x)|g( x )=>h(x) }
rewrite both(x:_) {
 // left
 h = f(x)
 y = g(h)
 // arrow
 <=>
 // right
 y = k(x)
 // end
}
rewrite long(x:_) { clamp(clamp(x, lowwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwww, none), none, hiiiiiiiiiiiiii) | clamp(clamp(x, none, hi), lo, none) => clamp(x, lo, hi) }
fusion z<T: half, W: float, N: add_normalizer, Q: quantizer>(x: T[n, d], residual: T[n, d], weight: W[d], eps: f64, g: group, norm: N, q: Q,) -> (Q.results, h: T[n, d]) where g.size in {2,4}, (a && b)||c {
    y = very_long_function_name(another_long_function(x, residual, weight), eps = 1e-06, keepdim, axis = -1) * weight
    z = aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa(x) + (bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb(y) - ccccccccccccccc)
    (y , _) = norm( all_reduce(x,g),residual )
    q(y)
}
kernel allreduce // how
  tune a in {1 , 2} tune b in { 3 }
cost { bytes = 2*n * d
 // launches
 launches = 1 }
fusion ex(x: _) -> y { f(x) } kernel extern torch "n.o.p"(x) means { g(x) }
test "t"{ graph(x:f32[n,..]){ y=f(x)
 // give
 return (y , x) }
 fires z[a , b] 1 times // once
 fires ex 3 times fires nothing }
// The end.
"#;

#[test]
fn ugly_becomes_pretty() {
    // `..` after other dimensions is an error; everything else is only ugly.
    let text = UGLY.replace("f32[n,..]", "f32[..,n]");
    let formatted = format(&text).unwrap_or_else(|e| panic!("{e:#?}"));
    insta::assert_snapshot!(formatted);
    assert_eq!(format(&formatted).as_deref(), Ok(formatted.as_str()));
    for line in formatted.lines().filter(|l| !l.contains("//")) {
        assert!(line.chars().count() <= 100, "{line}");
    }
}

#[test]
fn line_ends_and_marks_of_windows() {
    let unix = "//! A.\n\n/// B.\nop f(x: _) -> _ {\n    x // c\n}\n";
    let windows = format!("\u{FEFF}{}", unix.replace('\n', "\r\n"));
    assert_eq!(format(&windows).as_deref(), Ok(unix));
    assert_eq!(format(""), Ok(String::new()));
    assert_eq!(format("\n\n// only\n\n"), Ok("// only\n".to_string()));
}

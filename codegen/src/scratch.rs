use crate::ir::*;
use crate::lower::build::{Builder, Tensor, Value};
use crate::lower::prim;
use fusec_dsl::dtype::Dtype;
use fusec_dsl::library::*;
use fusec_dsl::source::{SourceMap, Span};

pub struct K {
    pub b: Builder,
}
impl K {
    pub fn c(&mut self, name: &str, args: &[Value]) -> Value {
        prim::lower(&mut self.b, name, args, Span::default()).unwrap()
    }
    pub fn t(v: &Value) -> Tensor {
        match v {
            Value::Tensor(t) => *t,
            _ => panic!(),
        }
    }
}
pub fn f(v: f64) -> Value {
    Value::Attr(Attr::float(v))
}
pub fn i(v: i64) -> Value {
    Value::Attr(Attr::int(v))
}
pub fn d(v: Dtype) -> Value {
    Value::Attr(Attr::Dtype(v))
}
pub fn none() -> Value {
    Value::Attr(Attr::None)
}
pub fn yes() -> Value {
    Value::Attr(Attr::Bool(true))
}

fn fusion(name: &str) -> Fusion {
    Fusion {
        name: name.into(),
        members: vec![],
        variants: vec![],
        doc: String::new(),
        span: Span::default(),
        pass: None,
        sig: Signature::default(),
        body: Body::default(),
        kernel: Kernel::Auto,
    }
}

pub fn add_rms_token(cols: usize) -> KernelIr {
    let mut k = K { b: Builder::default() };
    let s = Span::default();
    let x = Value::Tensor(k.b.input("x", Dtype::Bf16, InputRole::Rows(cols), cols, s));
    let r = Value::Tensor(k.b.input("residual", Dtype::Bf16, InputRole::Rows(cols), cols, s));
    let w = Value::Tensor(k.b.input("weight", Dtype::Bf16, InputRole::Column, cols, s));
    let xf = k.c("cast", &[x, d(Dtype::F32)]);
    let rf = k.c("cast", &[r, d(Dtype::F32)]);
    let u = k.c("add", &[xf, rf]);
    let uu = k.c("mul", &[u.clone(), u.clone()]);
    let m = k.c("mean", &[uu, i(-1), yes(), none()]);
    let m = k.c("add", &[m, f(1e-6)]);
    let rs = k.c("rsqrt", &[m]);
    let z = k.c("mul", &[u.clone(), rs]);
    let h = k.c("cast", &[u, d(Dtype::Bf16)]);
    let z = k.c("cast", &[z, d(Dtype::Bf16)]);
    let y = k.c("mul", &[z, w]);
    let y = k.c("cast", &[y, d(Dtype::F32)]);
    let a = k.c("abs", &[y.clone()]);
    let a = k.c("amax", &[a, i(-1), yes(), none()]);
    let sc = k.c("div", &[a, f(448.0)]);
    let sc = k.c("max", &[sc, f(4.359654017857143e-06)]);
    let q = k.c("div", &[y, sc.clone()]);
    let q = k.c("clamp", &[q, f(-448.0), f(448.0)]);
    let q = k.c("cast", &[q, d(Dtype::F8E4M3)]);
    let out = |n: &str, v: &Value, sink| Output { name: n.into(), value: K::t(v).id, sink };
    let outs =
        vec![out("q", &q, Sink::Rows), out("scales", &sc, Sink::PerRow), out("h", &h, Sink::Rows)];
    k.b.finish(&fusion("add_rms_norm_quant[quant_fp8_token]"), outs).unwrap()
}

pub fn silu_nvfp4(cols: usize) -> KernelIr {
    let mut k = K { b: Builder::default() };
    let s = Span::default();
    let x = Value::Tensor(k.b.input("x", Dtype::Bf16, InputRole::Rows(2 * cols), 2 * cols, s));
    let gs = Value::Tensor(k.b.input("gs", Dtype::F32, InputRole::Scalar, 1, s));
    let n = cols as i64;
    let gate = k.c("slice", &[x.clone(), i(-1), i(0), i(n), i(1)]);
    let up = k.c("slice", &[x, i(-1), i(n), i(2 * n), i(1)]);
    let h = k.c("cast", &[gate, d(Dtype::F32)]);
    let e = k.c("neg", &[h.clone()]);
    let e = k.c("exp", &[e]);
    let e = k.c("add", &[f(1.0), e]);
    let e = k.c("div", &[h, e]);
    let e = k.c("cast", &[e, d(Dtype::Bf16)]);
    let y = k.c("mul", &[e, up]);
    let h = k.c("cast", &[y, d(Dtype::F32)]);
    let a = k.c("abs", &[h.clone()]);
    let a = k.c("amax", &[a, i(-1), yes(), i(16)]);
    let a = k.c("mul", &[a, f(0.16666667163372040)]);
    let a = k.c("mul", &[gs.clone(), a]);
    let sc = k.c("cast", &[a, d(Dtype::F8E4M3)]);
    let ff = k.c("cast", &[sc.clone(), d(Dtype::F32)]);
    let ne = k.c("ne", &[ff.clone(), f(0.0)]);
    let rg = k.c("div", &[f(1.0), gs]);
    let rg = k.c("mul", &[ff, rg]);
    let rg = k.c("div", &[f(1.0), rg]);
    let r = k.c("select", &[ne, rg, f(0.0)]);
    let r = k.c("repeat", &[r, i(16)]);
    let q = k.c("mul", &[h, r]);
    let q = k.c("pack_e2m1", &[q]);
    let out = |n: &str, v: &Value, sink| Output { name: n.into(), value: K::t(v).id, sink };
    let outs = vec![out("q", &q, Sink::Rows), out("scales", &sc, Sink::Swizzled128x4)];
    k.b.finish(&fusion("silu_and_mul_quant[quant_nvfp4]"), outs).unwrap()
}

#[test]
fn look() {
    let sources = SourceMap::default();
    for ir in [add_rms_token(4096), silu_nvfp4(4096)] {
        let plan = crate::plan::Plan::new(&ir, Default::default()).unwrap();
        eprintln!("{:?}", plan.geometry);
        let src = crate::emit::emit(&ir, &plan, &sources);
        std::fs::write(format!("/tmp/{}", src.file), &src.text).unwrap();
        for arch in ["sm_80", "sm_90a", "sm_100a"] {
            let t = std::time::Instant::now();
            match crate::cuda::nvrtc::cubin(&src.text, &src.file, arch) {
                Ok(c) => eprintln!("{} {arch}: {} bytes {:?}", src.file, c.len(), t.elapsed()),
                Err(e) => eprintln!("{e}"),
            }
        }
        let g = plan.geometry;
        match crate::host::HostKernel::build(&src, g.threads_per_row * g.rows_per_block) {
            Ok(_) => eprintln!("host ok"),
            Err(e) => eprintln!("{e}"),
        }
    }
}

//! Element types, under PyTorch's own short names.

use std::fmt;

macro_rules! dtypes {
    ($($variant:ident $short:literal $torch:literal $bits:literal;)*) => {
        /// An element type.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Dtype { $(#[doc = $torch] $variant,)* }

        impl Dtype {
            /// Every element type.
            pub const ALL: &[Dtype] = &[$(Dtype::$variant,)*];

            /// Short name, as in `bf16`.
            pub fn short(self) -> &'static str {
                match self { $(Dtype::$variant => $short,)* }
            }

            /// PyTorch's name, as in `bfloat16`.
            pub fn torch(self) -> &'static str {
                match self { $(Dtype::$variant => $torch,)* }
            }

            /// Size of one storage element in bits.
            pub fn bits(self) -> u32 {
                match self { $(Dtype::$variant => $bits,)* }
            }
        }
    };
}

dtypes! {
    Bf16 "bf16" "bfloat16" 16;
    F16 "f16" "float16" 16;
    F32 "f32" "float32" 32;
    F64 "f64" "float64" 64;
    F8E4M3 "f8e4m3fn" "float8_e4m3fn" 8;
    F8E5M2 "f8e5m2" "float8_e5m2" 8;
    F8E8M0 "f8e8m0fnu" "float8_e8m0fnu" 8;
    F4E2M1x2 "f4e2m1fnx2" "float4_e2m1fn_x2" 8;
    I8 "i8" "int8" 8;
    U8 "u8" "uint8" 8;
    I16 "i16" "int16" 16;
    I32 "i32" "int32" 32;
    I64 "i64" "int64" 64;
    B8 "b8" "bool" 8;
    C64 "c64" "complex64" 64;
}

impl Dtype {
    /// The type with this short name.
    pub fn from_short(name: &str) -> Option<Dtype> {
        Self::ALL.iter().copied().find(|d| d.short() == name)
    }

    /// The type with this PyTorch name.
    pub fn from_torch(name: &str) -> Option<Dtype> {
        Self::ALL.iter().copied().find(|d| d.torch() == name)
    }

    /// Size of one storage element in bytes.
    pub fn bytes(self) -> u64 {
        u64::from(self.bits() / 8)
    }

    /// Whether arithmetic on it is floating point.
    pub fn is_float(self) -> bool {
        use Dtype::*;
        matches!(self, Bf16 | F16 | F32 | F64 | F8E4M3 | F8E5M2 | F8E8M0 | F4E2M1x2)
    }
}

impl fmt::Display for Dtype {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.short())
    }
}

/// A set of element types: what a generic such as `T: bf16 | f16` allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct DtypeSet(u32);

impl DtypeSet {
    /// Every type.
    pub const ANY: DtypeSet = DtypeSet(u32::MAX);
    /// No type.
    pub const NONE: DtypeSet = DtypeSet(0);

    /// The set of exactly these.
    pub fn of(types: &[Dtype]) -> DtypeSet {
        types.iter().fold(Self::NONE, |s, t| s.union(DtypeSet(1 << (*t as u32))))
    }

    /// A class by its name in the language: `float`, `half`, `fp8`, `int`.
    pub fn class(name: &str) -> Option<DtypeSet> {
        use Dtype::*;
        Some(match name {
            "float" => Self::of(&[Bf16, F16, F32, F64]),
            "half" => Self::of(&[Bf16, F16]),
            "fp8" => Self::of(&[F8E4M3, F8E5M2]),
            "int" => Self::of(&[I8, U8, I16, I32, I64]),
            "any" => Self::ANY,
            _ => return Dtype::from_short(name).map(|d| Self::of(&[d])),
        })
    }

    /// Both sets together.
    pub fn union(self, other: DtypeSet) -> DtypeSet {
        DtypeSet(self.0 | other.0)
    }

    /// What is in both.
    pub fn intersect(self, other: DtypeSet) -> DtypeSet {
        DtypeSet(self.0 & other.0)
    }

    /// Whether `dtype` is in it.
    pub fn contains(self, dtype: Dtype) -> bool {
        self.0 & (1 << (dtype as u32)) != 0
    }

    /// Its members, in declaration order of [`Dtype`].
    pub fn iter(self) -> impl Iterator<Item = Dtype> {
        Dtype::ALL.iter().copied().filter(move |d| self.contains(*d))
    }
}

//! Costs as whole numbers, so that every later sum is exact and equal plans tie exactly.

/// Nothing that is finite in units reaches this; sums saturate here.
pub(super) const INF: u64 = 1 << 60;

/// Costs above this many units do not occur in a problem.
const LARGEST: f64 = (1u64 << 50) as f64;

/// How a cost becomes a whole number of units.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Scale {
    /// All costs are multiples of `step / ten_power`: nothing is lost.
    Decimal { ten_power: f64, step: u64 },
    /// Units of a power of two, rounded down, at least 2^-50 of the first selection's cost.
    Binary { factor: f64 },
}

/// Addition that stays at [`INF`].
#[inline]
pub(super) fn add(a: u64, b: u64) -> u64 {
    (a + b).min(INF)
}

impl Scale {
    /// The scale for these costs when no selection of interest costs more than `ceiling`.
    pub fn choose(costs: impl Iterator<Item = f64> + Clone, ceiling: f64) -> Self {
        for digits in 0..=4 {
            let ten_power = 10f64.powi(digits);
            if ceiling * ten_power <= LARGEST
                && let Some(step) = common_step(costs.clone(), ten_power)
            {
                return Self::Decimal { ten_power, step };
            }
        }
        let mut factor = 1.0;
        while ceiling * factor > LARGEST {
            factor *= 0.5;
        }
        while ceiling > 0.0 && ceiling * factor * 2.0 <= LARGEST && factor < 1e300 {
            factor *= 2.0;
        }
        Self::Binary { factor }
    }

    /// A cost in units, never above its true value.
    pub fn units(self, cost: f64) -> u64 {
        match self {
            Self::Decimal { ten_power, step } => (cost * ten_power).round() as u64 / step,
            Self::Binary { factor } => (cost * factor).floor() as u64,
        }
    }

    /// The cost of so many units.
    pub fn cost(self, units: u64) -> f64 {
        match self {
            Self::Decimal { ten_power, step } => (units * step) as f64 / ten_power,
            Self::Binary { factor } => units as f64 / factor,
        }
    }
}

/// The greatest common divisor of the costs times `ten_power`, if all of these are whole.
fn common_step(costs: impl Iterator<Item = f64>, ten_power: f64) -> Option<u64> {
    let mut step = 0;
    for cost in costs {
        let scaled = cost * ten_power;
        let whole = scaled.round();
        if (scaled - whole).abs() > 1e-12 * whole.max(1.0) {
            return None;
        }
        step = gcd(step, whole as u64);
    }
    Some(step.max(1))
}

fn gcd(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_and_decimal_costs_are_exact() {
        let costs = [0.1, 1.0, 0.001];
        let scale = Scale::choose(costs.into_iter(), 50.0);
        assert_eq!(scale, Scale::Decimal { ten_power: 1000.0, step: 1 });
        assert_eq!(costs.map(|c| scale.units(c)), [100, 1000, 1]);
        let scale = Scale::choose([4.0, 6.0].into_iter(), 10.0);
        assert_eq!([scale.units(4.0), scale.units(6.0)], [2, 3]);
        assert_eq!(scale.cost(5), 10.0);
    }

    #[test]
    fn other_costs_round_down_by_less_than_one_part_in_2_to_the_49() {
        let costs = [2.337_126_1, 1e-7, 881.2];
        let scale = Scale::choose(costs.into_iter(), 1000.0);
        for cost in costs {
            let back = scale.cost(scale.units(cost));
            assert!(back <= cost && cost - back <= 1000.0 / 2f64.powi(49), "{cost} {back}");
        }
    }
}

//! The comparison of two limits: spans of one and the other take turns, and each pair of neighbours
//! gives one difference of rates.

use super::GAIN_LEAST;

/// The largest factor by which spans are longer than the shortest.
pub(super) const PATIENCE_MAX: f64 = 16.0;

/// The pairs before the first answer.
const PAIRS_LEAST: u32 = 3;

/// The pairs after which spans become longer, or a comparison ends.
const PAIRS_MAX: u32 = 6;

/// The standard errors by which a difference must exceed what is required of it, or fall short.
const ERRORS: f64 = 2.5;

/// The least duration of a span, as a multiple of the longest time without a completed read: a throttle
/// that serves reads in bursts says nothing in less.
const INTERVALS_LEAST: f64 = 4.0;

/// The longest time without a completed read, as a multiple of the mean, from which on reads are taken to
/// come in bursts.
const BURST: f64 = 12.0;

/// The largest difference of a pair that counts, as a multiple of the difference of the limits.
const RATIO_MAX: f64 = 1.5;

/// The weight of what earlier comparisons say about the variance, in pairs: a few pairs may differ
/// little by chance.
const EARLIER_PAIRS: f64 = 4.0;

/// The least variance assumed of a difference.
const VARIANCE_LEAST: f64 = 1e-5;

/// What completed per second: reads, and their weight.
pub(super) type Rates = [f64; 2];

/// Measures the rates while reads of a given weight complete.
#[derive(Debug, Default)]
pub(super) struct Span {
    /// The weight to complete before the span begins; `None` when it has begun.
    skip: Option<f64>,
    wanted: f64,
    reads: f64,
    weight: f64,
    seconds: f64,
    intervals: f64,
    /// The longest time without a completed read.
    longest: f64,
    /// The longest time without a completed read in the span before, if reads come in bursts.
    pause: f64,
}

impl Span {
    /// Creates a span of the weight `wanted`, after `skip`. `before`: the span before it.
    pub fn new(skip: f64, wanted: f64, before: &Span) -> Span {
        let is_bursty = before.longest * before.intervals > BURST * before.seconds;
        let pause = if is_bursty { before.longest } else { 0.0 };
        let skip = (skip > 0.0).then_some(skip);
        Span { skip, wanted, pause, ..Span::default() }
    }

    /// Adds completed reads; returns the rates at the end of the span. Where reads come in bursts, a span
    /// begins and ends after a pause.
    pub fn add(&mut self, reads: f64, weight: f64, seconds: f64) -> Option<Rates> {
        let is_after_pause = seconds >= self.pause / 2.0;
        if let Some(skip) = &mut self.skip {
            *skip -= weight;
            if *skip <= 0.0 && is_after_pause || *skip < -self.wanted {
                self.skip = None;
            }
            return None;
        }
        self.reads += reads;
        self.weight += weight;
        self.seconds += seconds;
        self.intervals += 1.0;
        self.longest = self.longest.max(seconds);
        let is_long = self.weight >= self.wanted && self.seconds > INTERVALS_LEAST * self.longest;
        let is_over = is_long && (is_after_pause || self.weight > 2.0 * self.wanted);
        is_over.then(|| [self.reads / self.seconds, self.weight / self.seconds])
    }
}

/// The mean of the logarithms of ratios, and how much they vary.
#[derive(Clone, Copy, Debug, Default)]
struct Ratios {
    mean: f64,
    /// The sum of the squared deviations from the mean.
    squares: f64,
    /// The variance in earlier comparisons.
    earlier_variance: f64,
}

/// Whether a probe tries a larger limit or a smaller one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Direction {
    Up,
    Down,
}

/// The answer of a comparison.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Verdict {
    /// More spans are needed.
    Undecided,
    /// The other limit is better; the growth of the rate as a share of that of the limit.
    Keep { elasticity: f64 },
    /// The limit stays.
    Reject,
}

/// The variances of the difference between two spans of the shortest length: of the reads, and of their
/// weight.
pub(super) type Variances = [f64; 2];

/// A comparison of the limit with another one.
#[derive(Debug)]
pub(super) struct Probe {
    direction: Direction,
    base: f64,
    trial: f64,
    /// The weight of a read.
    read: f64,
    /// Whether another limit was kept just before.
    follows: bool,
    patience: f64,
    spans: u32,
    first: Rates,
    pairs: u32,
    /// The sum of the pairs' lengths.
    lengths: f64,
    /// The sums of the weights per second, of the limit and of the other one.
    weights: [f64; 2],
    /// How much the reads, and their weight, differ between the limits.
    ratios: [Ratios; 2],
}

impl Probe {
    /// Creates a comparison of `base` with `trial`, where a read has the weight `read`.
    pub fn new(
        direction: Direction,
        (base, trial, read): (f64, f64, f64),
        follows: bool,
        (patience, earlier): (f64, Variances),
    ) -> Probe {
        let ratios =
            earlier.map(|earlier_variance| Ratios { earlier_variance, ..Ratios::default() });
        Probe {
            direction,
            base,
            trial,
            read,
            follows,
            patience,
            spans: 0,
            first: [0.0; 2],
            pairs: 0,
            lengths: 0.0,
            weights: [0.0; 2],
            ratios,
        }
    }

    pub fn direction(&self) -> Direction {
        self.direction
    }

    pub fn trial(&self) -> f64 {
        self.trial
    }

    pub fn follows(&self) -> bool {
        self.follows
    }

    pub fn patience(&self) -> f64 {
        self.patience
    }

    /// Returns the limit of the present span. The limits change places in each pair, so that a steady
    /// change of the rate favours neither.
    pub fn limit(&self) -> f64 {
        if self.is_trial() { self.trial } else { self.base }
    }

    fn is_trial(&self) -> bool {
        self.spans.div_ceil(2) % 2 == 1
    }

    /// Returns whether the present span has the limit of the one before.
    pub fn repeats(&self) -> bool {
        self.spans > 0 && self.spans.is_multiple_of(2)
    }

    /// Adds the rates of the present span, and goes on to the next. `idle`: the time of a read on an idle
    /// device.
    pub fn add(&mut self, rates: Rates, idle: f64) -> Verdict {
        let is_trial = self.is_trial();
        self.weights[usize::from(is_trial)] += rates[1];
        self.spans += 1;
        if !self.spans.is_multiple_of(2) {
            self.first = rates;
            return Verdict::Undecided;
        }
        self.pairs += 1;
        self.lengths += self.patience;
        // No device gains more than the limit does: what exceeds that is chance.
        let most = RATIO_MAX * (self.trial / self.base).ln().abs();
        for (ratios, (rate, first)) in self.ratios.iter_mut().zip(rates.iter().zip(self.first)) {
            let ratio = (rate / first).ln().clamp(-most, most);
            let before = if is_trial { ratio } else { -ratio } - ratios.mean;
            ratios.mean += before * self.patience / self.lengths;
            let after = before * (1.0 - self.patience / self.lengths);
            ratios.squares += self.patience * before * after;
        }
        self.verdict(idle)
    }

    /// Returns the growth of the queue: of the read being served, and what is in flight beyond the product
    /// of rate and idle time.
    fn queue_growth(&self, idle: f64) -> f64 {
        let queue = |limit: f64, weights: f64| {
            (limit - weights / f64::from(self.pairs) * idle).max(0.0) + self.read
        };
        (queue(self.trial, self.weights[1]) / queue(self.base, self.weights[0])).ln()
    }

    /// Returns the variances, as far as they are known.
    pub fn variances(&self) -> Variances {
        let freedom = f64::from(self.pairs.saturating_sub(1));
        self.ratios.map(|ratios| {
            let sum = EARLIER_PAIRS * ratios.earlier_variance + ratios.squares;
            (sum / (EARLIER_PAIRS + freedom)).max(VARIANCE_LEAST)
        })
    }

    fn verdict(&mut self, idle: f64) -> Verdict {
        if self.pairs < PAIRS_LEAST {
            return Verdict::Undecided;
        }
        let growth = (self.trial / self.base).ln();
        let queue_growth = match self.direction {
            Direction::Up => self.queue_growth(idle).max(growth),
            Direction::Down => self.queue_growth(idle).min(growth),
        };
        // A device that limits requests completes as many reads of whatever size; one that limits bytes,
        // as much weight.
        let [of_reads, of_weight] = self.variances();
        let (variance, ratios) = match of_reads < of_weight {
            true => (of_reads, self.ratios[0]),
            false => (of_weight, self.ratios[1]),
        };
        let gain = ratios.mean - GAIN_LEAST * queue_growth;
        let error = (variance / self.lengths).sqrt();
        let is_clear = gain.abs() > ERRORS * error;
        if !is_clear {
            if !self.pairs.is_multiple_of(PAIRS_MAX) {
                return Verdict::Undecided;
            }
            if self.patience < PATIENCE_MAX && gain > 0.0 {
                self.patience *= 2.0;
                return Verdict::Undecided;
            }
        }
        let is_better = match self.direction {
            Direction::Up => gain > error,
            Direction::Down => gain > 0.0,
        };
        match is_better {
            true => Verdict::Keep { elasticity: ratios.mean / growth },
            false => Verdict::Reject,
        }
    }
}

//! The depth of reading: how much may be in flight, so that the device is busy and no read waits in
//! it for nothing.
//!
//! A device needs a number of reads in flight until it delivers all it can. Each read beyond that
//! number only waits, and the reads of others wait behind it. The number depends on the device and
//! changes while it is used, so [`Depth`] finds it by trial. Its inputs are those of congestion
//! control in networks: the rate at which reads complete, and their time compared with that of a read
//! on an idle device. (Cardwell et al., "BBR: Congestion-Based Congestion Control", ACM Queue 14(5),
//! 2016, from which come the start, the probes and the long pauses between them; Brakmo and Peterson,
//! "TCP Vegas", IEEE JSAC 13(8), 1995, which takes a longer time for a sign of a queue.)
//!
//! The rule, step by step:
//!
//! 1. *Start*: the limit doubles until that has twice not made reads complete faster by [`START_GROWTH`], and
//!    returns to where it last did.
//! 2. *Probes*: the limit and another one, a quarter larger or a fifth smaller, take turns for short
//!    spans, and the rates of neighbouring spans are compared. A larger limit is kept if the logarithm of
//!    the rate grows by more than [`GAIN_LEAST`] of that of the queue; a smaller one is kept if the rate
//!    falls by less than that. The queue is what is in flight beyond the product of rate and idle time.
//!    Where rates vary, spans become longer until the answer is clear.
//! 3. *Rest*: when neither is kept, the limit stays, and for longer each time that probes confirm it. A
//!    rate that changes ends the rest.
//!
//! The product of rate and idle time, BBR's limit, is not used as the limit: on a device with parallel
//! channels some channels are idle while reads wait at others (N reads keep only N / (N + C - 1) of C
//! channels busy), and a disk orders the reads that wait. Both deliver more beyond that product. The
//! idle time only tells how far to probe, and how much longer the queue becomes.
//!
//! A neighbour's reads raise the time of ours as a queue does. The limit does not yield to that alone, since
//! only rates are compared, so the scan keeps its share; nor does it grow without end, since each further
//! read gains less than the one before.
//!
//! Reads differ in size, and devices limit requests, bytes, or both. So reads count by *weight*: their
//! bytes, and [`READ_WEIGHT`] for the request itself. Two reads may always be in flight: one is
//! served while the other is ready to be next.
//!
//! Time in which fewer reads were in flight than allowed says nothing about the limit, and is not
//! counted.
//!
//! [`Depth`] reads no clock and does no I/O.

mod probe;
#[cfg(test)]
mod tests;

use std::time::Duration;

use self::probe::{Direction, Probe, Rates, Span, Variances, Verdict};
use crate::KindCounters;

/// The weight of a request besides its bytes: about what the smallest cloud volumes transfer in the
/// time of a request.
pub const READ_WEIGHT: usize = 32 << 10;

/// The reads that may be in flight at least.
const READS_LEAST: f64 = 2.0;

/// The reads that are in flight at first, of whatever size.
const READS_FIRST: f64 = 4.0;

/// The most in flight, as a weight: more than any device transfers within the time of a request.
const WEIGHT_MAX: f64 = (8 << 20) as f64;

/// The least growth of the rate, as a share of the growth of the queue (both as logarithms), for which a
/// larger limit is kept.
const GAIN_LEAST: f64 = 0.06;

/// The growth of the rate, as a factor, for which the start goes on.
const START_GROWTH: f64 = 1.15;

/// The spans without such a growth after which the start ends: one may be slow by chance.
const START_SPANS: u32 = 2;

/// The most pairs of spans that a rest takes.
const REST_MAX: f64 = 64.0;

/// The variance assumed of the difference between two spans, before any are measured.
const VARIANCE_FIRST: f64 = 0.01;

/// The factor by which the time on an idle device is taken to be longer after each rest: it may be, and
/// there is no idle time to measure it.
const IDLE_GROWTH: f64 = 1.02;

/// The change of the rate, as a natural logarithm, that ends a rest.
const CHANGE: f64 = 0.5;

/// The reads that were completed, and the state of those in flight.
#[derive(Clone, Copy, Debug, Default)]
pub struct Progress {
    /// Time since any fixed moment.
    pub at: Duration,
    /// All completed reads so far.
    pub completed: KindCounters,
    /// The number of reads in flight.
    pub in_flight_reads: usize,
    /// The bytes of the reads in flight.
    pub in_flight_bytes: usize,
}

/// A limit on the reads in flight, which follows what the device needs.
#[derive(Debug)]
pub struct Depth {
    reads_max: f64,
    /// The largest limit of the start, as a weight.
    start_max: f64,
    /// The limit that is kept, as a weight.
    base: f64,
    /// The mean weight of a read, of late.
    read_weight: f64,
    /// The time of a read on an idle device, in seconds: the shortest mean time seen.
    idle: f64,
    /// The mean time of a read, of late, in seconds.
    service: f64,
    /// The number of reads so far.
    noted_reads: f64,
    stage: Stage,
    span: Span,
    /// The factor by which spans are longer than the shortest.
    patience: f64,
    /// The variances in the comparisons so far.
    variances: Variances,
    /// The duration of the next rest, in pairs of spans.
    rest: f64,
    /// Whether reads waited for the limit since the last call.
    is_limited: bool,
    seen: Option<Progress>,
}

#[derive(Debug)]
enum Stage {
    Start(Start),
    Probe(Probe),
    Rest { rate: Option<f64>, spans_left: f64, changed: u32 },
}

/// The start: the limit at which the rate grew last, that rate, and the spans since.
#[derive(Clone, Copy, Debug, Default)]
struct Start {
    limit: f64,
    rate: f64,
    spans_since: u32,
}

impl Depth {
    /// Creates a limit that allows at most `reads_max` reads.
    pub fn new(reads_max: usize) -> Depth {
        let read_weight = (READ_WEIGHT + (16 << 10)) as f64;
        let base = READS_FIRST * read_weight;
        Depth {
            reads_max: reads_max as f64,
            start_max: WEIGHT_MAX,
            base,
            read_weight,
            idle: f64::INFINITY,
            service: 0.0,
            noted_reads: 0.0,
            stage: Stage::Start(Start::default()),
            span: Span::default(),
            patience: 1.0,
            variances: [VARIANCE_FIRST; 2],
            rest: 1.0,
            is_limited: false,
            seen: None,
        }
    }

    /// Lets the start end before more than `bytes` are in flight: on a device of which something is known,
    /// they would take long. Probes may go further.
    #[must_use]
    pub fn starting_below(self, bytes: f64) -> Depth {
        Depth { start_max: bytes, ..self }
    }

    /// Returns whether another read may start beside those in flight. A refusal is noted: the limit
    /// adapts only while it is the limit that keeps reads from being started.
    pub fn admits(&mut self, in_flight_reads: usize, in_flight_bytes: usize) -> bool {
        let weight = weight_of(in_flight_reads as f64, in_flight_bytes as f64);
        let is_room = (in_flight_reads as f64) < READS_LEAST
            || weight + self.read_weight / 2.0 < self.limit();
        self.is_limited |= !is_room;
        is_room
    }

    /// Returns the present limit, as a weight.
    pub fn limit(&self) -> f64 {
        match &self.stage {
            Stage::Probe(probe) => probe.limit(),
            // Reads may be larger than was assumed when the first ones started.
            Stage::Start(start) if start.rate == 0.0 => self.clamp(READS_FIRST * self.read_weight),
            Stage::Start(_) | Stage::Rest { .. } => self.base,
        }
    }

    /// Returns whether the start is over.
    pub fn has_started(&self) -> bool {
        !matches!(self.stage, Stage::Start(_))
    }

    /// Notes that no read could be started for lack of the engine's depth, which limits reads as this
    /// limit does.
    pub fn note_full(&mut self) {
        self.is_limited = true;
    }

    /// Adapts the limit to the reads that completed since the last call.
    pub fn observe(&mut self, now: &Progress) {
        let Some(seen) = self.seen else {
            self.seen = Some(*now);
            return;
        };
        let reads = now.completed.requests - seen.completed.requests;
        // Reads that take no time tell nothing of a device.
        if reads == 0 || now.completed.service == seen.completed.service {
            return;
        }
        let bytes = now.completed.read_bytes - seen.completed.read_bytes;
        let weight = weight_of(reads as f64, bytes as f64);
        let seconds = now.at.saturating_sub(seen.at).as_secs_f64();
        let service = (now.completed.service - seen.completed.service).as_secs_f64();
        self.seen = Some(*now);
        self.note_read(weight / reads as f64, service / reads as f64, reads as f64);
        if !std::mem::take(&mut self.is_limited) {
            return;
        }
        if let Some(rates) = self.span.add(reads as f64, weight, seconds) {
            self.finish_span(rates);
            let in_flight = weight_of(now.in_flight_reads as f64, now.in_flight_bytes as f64);
            self.begin_span(in_flight);
        }
    }

    fn note_read(&mut self, weight: f64, service: f64, reads: f64) {
        let share = (reads / (self.noted_reads + reads).min(32.0)).min(1.0);
        self.read_weight += share * (weight - self.read_weight);
        self.service += share * (service - self.service);
        self.noted_reads += reads;
        if self.noted_reads >= 8.0 {
            self.idle = self.idle.min(self.service);
        }
    }

    /// The share of a read's time that it waits for others.
    fn waiting_share(&self) -> f64 {
        1.0 - (self.idle / self.service).min(1.0)
    }

    fn clamp(&self, limit: f64) -> f64 {
        let most = (self.reads_max * self.read_weight).min(WEIGHT_MAX);
        let least = READS_LEAST * self.read_weight;
        limit.min(most).max(least)
    }

    fn finish_span(&mut self, rates: Rates) {
        let [_, rate] = rates;
        match &mut self.stage {
            Stage::Start(start) => {
                let start = *start;
                self.finish_start(start, rate);
            }
            Stage::Probe(probe) => {
                let verdict = probe.add(rates, self.idle);
                self.take_verdict(verdict);
            }
            Stage::Rest { rate: usual, spans_left, changed } => {
                let change = (rate / *usual.get_or_insert(rate)).ln();
                *changed = if change.abs() > CHANGE { *changed + 1 } else { 0 };
                *spans_left -= 1.0;
                if *changed >= 2 {
                    self.rest = 1.0;
                    self.idle = self.service;
                    self.probe(if change > 0.0 { Direction::Up } else { Direction::Down }, false);
                } else if *spans_left <= 0.0 {
                    self.probe(Direction::Down, false);
                }
            }
        }
    }

    fn finish_start(&mut self, mut start: Start, rate: f64) {
        self.base = self.limit();
        let growth = rate / start.rate;
        match growth >= START_GROWTH {
            true => start = Start { limit: self.base, rate, spans_since: 0 },
            false => start.spans_since += 1,
        }
        let next = self.clamp((self.base * 2.0).min(self.start_max));
        if start.spans_since < START_SPANS && next > self.base {
            self.base = next;
            self.stage = Stage::Start(start);
            return;
        }
        self.base = self.clamp(start.limit);
        let is_growing = growth > 1.0 + GAIN_LEAST && start.spans_since > 0;
        self.probe(if is_growing { Direction::Up } else { Direction::Down }, false);
    }

    fn take_verdict(&mut self, verdict: Verdict) {
        let Stage::Probe(probe) = &self.stage else { return };
        let (direction, trial, is_first) = (probe.direction(), probe.trial(), !probe.follows());
        if verdict != Verdict::Undecided {
            self.variances = probe.variances();
            self.patience = (probe.patience() / 2.0).max(1.0);
        }
        match verdict {
            Verdict::Undecided => {}
            Verdict::Keep { elasticity } => {
                self.base = self.clamp(trial);
                self.rest = 1.0;
                self.probe_further(direction, elasticity);
            }
            Verdict::Reject => {
                self.after_rejection(direction, trial / self.base, is_first);
            }
        }
    }

    fn after_rejection(&mut self, direction: Direction, factor: f64, is_first: bool) {
        let smaller = (1.0 + factor) / 2.0;
        let step = self.base * (1.0 - smaller);
        match direction {
            Direction::Down if smaller < 0.92 && step > 0.75 * self.read_weight => {
                self.compare(direction, self.base - step.max(self.read_weight), !is_first);
            }
            Direction::Down if is_first => self.probe(Direction::Up, false),
            _ => self.begin_rest(),
        }
    }

    /// Starts to compare the limit with another one, or rests when there is none.
    fn probe(&mut self, direction: Direction, follows: bool) {
        let factor = match direction {
            Direction::Up if self.waiting_share() > 0.6 => 1.5,
            Direction::Up => 1.25,
            Direction::Down if self.waiting_share() > 0.6 => 0.6,
            Direction::Down => 0.8,
        };
        self.probe_by(direction, factor, follows);
    }

    fn probe_further(&mut self, direction: Direction, elasticity: f64) {
        match direction {
            Direction::Up if elasticity > 0.5 => self.probe_by(direction, 2.0, true),
            _ => self.probe(direction, true),
        }
    }

    fn probe_by(&mut self, direction: Direction, factor: f64, follows: bool) {
        let step = match direction {
            Direction::Up => self.base + self.read_weight,
            Direction::Down => self.base - self.read_weight,
        };
        let wanted = self.base * factor;
        let trial = self.clamp(match direction {
            Direction::Up => wanted.max(step),
            Direction::Down => wanted.min(step),
        });
        if (trial - self.base).abs() >= self.read_weight / 2.0 {
            self.compare(direction, trial, follows);
        } else if direction == Direction::Down && !follows {
            self.probe_by(Direction::Up, 1.25, false);
        } else {
            self.begin_rest();
        }
    }

    fn compare(&mut self, direction: Direction, trial: f64, follows: bool) {
        let spans = (self.patience, self.variances);
        let probe = Probe::new(direction, (self.base, trial, self.read_weight), follows, spans);
        self.stage = Stage::Probe(probe);
    }

    fn begin_rest(&mut self) {
        self.idle *= IDLE_GROWTH;
        self.stage = Stage::Rest { rate: None, spans_left: 2.0 * self.rest, changed: 0 };
        self.rest = (self.rest * 2.0).min(REST_MAX);
    }

    /// Begins to measure the rate, after the reads that started under another limit.
    fn begin_span(&mut self, in_flight: f64) {
        let patience = match &self.stage {
            Stage::Start(_) => 1.0,
            Stage::Probe(probe) => probe.patience(),
            Stage::Rest { .. } => self.patience,
        };
        let is_same = match &self.stage {
            Stage::Start(_) => false,
            Stage::Probe(probe) => probe.repeats(),
            Stage::Rest { rate, .. } => rate.is_some(),
        };
        let skip = if is_same { 0.0 } else { in_flight };
        let reads = (1.5 * self.limit() / self.read_weight).max(24.0);
        self.span = Span::new(skip, reads * patience * self.read_weight, &self.span);
    }
}

fn weight_of(reads: f64, bytes: f64) -> f64 {
    reads * READ_WEIGHT as f64 + bytes
}

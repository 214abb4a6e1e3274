//! Models of devices: discrete events, no clock.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use crate::engine::memory::splitmix64;

/// Seeded random numbers.
pub(super) struct Chance(pub u64);

impl Chance {
    /// A number from 0 to below 1.
    pub fn share(&mut self) -> f64 {
        (splitmix64(&mut self.0) >> 11) as f64 / (1u64 << 53) as f64
    }

    /// A time with an exponential distribution.
    pub fn exponential(&mut self, mean: f64) -> f64 {
        -mean * (1.0 - self.share()).ln()
    }

    /// A time that differs from `mean` by up to the given share of it, evenly.
    pub fn around(&mut self, mean: f64, by: f64) -> f64 {
        mean * (1.0 + by * (2.0 * self.share() - 1.0))
    }
}

/// A read: its size, and its place as a share of the device.
#[derive(Clone, Copy)]
pub(super) struct Request {
    pub number: usize,
    pub bytes: f64,
    pub place: f64,
}

/// A completed read.
#[derive(Clone, Copy)]
pub(super) struct Done {
    pub number: usize,
    pub at: f64,
    /// The time that the read takes on an idle device.
    pub alone: f64,
}

/// A device; times are in seconds and never decrease from call to call.
pub(super) trait Model {
    fn start(&mut self, at: f64, request: Request, chance: &mut Chance);
    /// The next read that completes.
    fn next(&mut self, chance: &mut Chance) -> Option<Done>;
}

/// Reads whose completion was known when they started.
#[derive(Default)]
struct Due(BinaryHeap<Reverse<(u64, usize, u64)>>);

impl Due {
    fn push(&mut self, number: usize, at: f64, alone: f64) {
        let nanos = |seconds: f64| (seconds * 1e9) as u64;
        self.0.push(Reverse((nanos(at), number, nanos(alone))));
    }

    fn pop(&mut self) -> Option<Done> {
        let Reverse((at, number, alone)) = self.0.pop()?;
        Some(Done { number, at: at as f64 * 1e-9, alone: alone as f64 * 1e-9 })
    }
}

/// A device that serves reads one after the other, in the order of their arrival.
#[derive(Clone, Copy)]
pub(super) struct Limits {
    pub iops: f64,
    pub bytes_per_second: f64,
    pub latency: f64,
    /// The latency varies by up to this share.
    pub jitter: f64,
}

/// What changes in mid-run.
#[derive(Clone, Copy, Default)]
pub(super) struct Change {
    /// The reads after which the limits are multiplied.
    pub after_reads: usize,
    pub factor: f64,
}

/// Reads of others, on for a period and off for the next.
#[derive(Clone, Copy)]
pub(super) struct Neighbour {
    pub per_second: f64,
    pub bytes: f64,
    pub period: f64,
}

pub(super) struct Serial {
    limits: Limits,
    change: Option<Change>,
    neighbour: Option<Neighbour>,
    neighbour_at: f64,
    free_at: f64,
    reads: usize,
    due: Due,
}

impl Serial {
    pub fn new(limits: Limits) -> Serial {
        Serial {
            limits,
            change: None,
            neighbour: None,
            neighbour_at: 0.0,
            free_at: 0.0,
            reads: 0,
            due: Due::default(),
        }
    }

    pub fn changing(self, change: Change) -> Serial {
        Serial { change: Some(change), ..self }
    }

    pub fn beside(self, neighbour: Neighbour) -> Serial {
        Serial { neighbour: Some(neighbour), ..self }
    }

    fn occupied(&self, bytes: f64) -> f64 {
        (1.0 / self.limits.iops).max(bytes / self.limits.bytes_per_second)
    }

    /// Serves the neighbour's reads up to a time.
    fn serve_neighbour(&mut self, until: f64, chance: &mut Chance) {
        let Some(neighbour) = self.neighbour else { return };
        while self.neighbour_at <= until {
            if ((self.neighbour_at / neighbour.period) as u64).is_multiple_of(2) {
                self.free_at = self.free_at.max(self.neighbour_at) + self.occupied(neighbour.bytes);
            }
            self.neighbour_at += chance.exponential(1.0 / neighbour.per_second);
        }
    }
}

impl Model for Serial {
    fn start(&mut self, at: f64, request: Request, chance: &mut Chance) {
        self.serve_neighbour(at, chance);
        self.reads += 1;
        if let Some(change) = self.change.filter(|change| self.reads == change.after_reads) {
            self.limits.iops *= change.factor;
            self.limits.bytes_per_second *= change.factor;
            self.limits.latency /= change.factor;
        }
        let occupied = self.occupied(request.bytes);
        let latency = chance.around(self.limits.latency, self.limits.jitter);
        self.free_at = self.free_at.max(at) + occupied;
        self.due.push(request.number, self.free_at + latency, occupied + latency);
    }

    fn next(&mut self, _: &mut Chance) -> Option<Done> {
        self.due.pop()
    }
}

/// Credits: a read is served at once while there are any. They come at a fixed rate, one by one or as
/// many as a slice of time is worth at its begin, as in the kernel's throttle.
pub(super) struct Bucket {
    pub per_second: f64,
    pub credits: f64,
    pub slice: f64,
    /// The most reads a second while there are credits.
    pub burst: f64,
    pub latency: f64,
    free_at: f64,
    seen_at: f64,
    due: Due,
}

impl Bucket {
    pub fn new(per_second: f64, credits: f64, slice: f64, burst: f64, latency: f64) -> Bucket {
        let (free_at, seen_at, due) = (0.0, 0.0, Due::default());
        Bucket { per_second, credits, slice, burst, latency, free_at, seen_at, due }
    }

    /// The time from `at` on at which there is a credit, which is used.
    fn credit_at(&mut self, at: f64) -> f64 {
        if self.slice == 0.0 {
            self.credits += (at - self.seen_at) * self.per_second - 1.0;
            self.seen_at = at;
            if self.credits >= 0.0 {
                return at;
            }
            // The time until the missing part of a credit comes, which is used then.
            self.seen_at = at - self.credits / self.per_second;
            self.credits = 0.0;
            return self.seen_at;
        }
        let slice_of = |time: f64| (time / self.slice + 1e-9).floor();
        if slice_of(at) > slice_of(self.seen_at) {
            self.credits = self.per_second * self.slice;
        }
        self.seen_at = at;
        if self.credits < 1.0 {
            self.seen_at = (slice_of(at) + 1.0) * self.slice;
            self.credits = self.per_second * self.slice;
        }
        self.credits -= 1.0;
        self.seen_at
    }
}

impl Model for Bucket {
    fn start(&mut self, at: f64, request: Request, chance: &mut Chance) {
        let begin = self.credit_at(at.max(self.seen_at)).max(self.free_at);
        self.free_at = begin + 1.0 / self.burst;
        let latency = chance.around(self.latency, 0.2);
        self.due.push(request.number, self.free_at + latency, 1.0 / self.burst + latency);
    }

    fn next(&mut self, _: &mut Chance) -> Option<Done> {
        self.due.pop()
    }
}

/// Flash: each read goes to a channel by its place, and waits for it; then its bytes pass one bus.
pub(super) struct Flash {
    channels: Vec<f64>,
    /// The mean time of a read in its channel, which varies by up to `jitter`.
    pub service: f64,
    pub jitter: f64,
    pub bytes_per_second: f64,
    pub latency: f64,
    bus_free_at: f64,
    due: Due,
}

impl Flash {
    pub fn new(channels: usize, service: f64, jitter: f64, bytes_per_second: f64) -> Flash {
        Flash {
            channels: vec![0.0; channels],
            service,
            jitter,
            bytes_per_second,
            latency: 10e-6,
            bus_free_at: 0.0,
            due: Due::default(),
        }
    }
}

impl Model for Flash {
    fn start(&mut self, at: f64, request: Request, chance: &mut Chance) {
        let number = (request.place * self.channels.len() as f64) as usize;
        let service = chance.around(self.service, self.jitter);
        let read_at = self.channels[number].max(at) + service;
        self.channels[number] = read_at;
        let transfer = request.bytes / self.bytes_per_second;
        self.bus_free_at = self.bus_free_at.max(at) + transfer;
        let done_at = self.bus_free_at.max(read_at + transfer) + self.latency;
        self.due.push(request.number, done_at, service + transfer + self.latency);
    }

    fn next(&mut self, _: &mut Chance) -> Option<Done> {
        self.due.pop()
    }
}

/// A rotating disk: seek time by distance, rotation, and the drive's queue, of which the read with the
/// shortest way (seek and rotation) is next. Reads beyond the queue wait in the order of arrival.
#[derive(Default)]
pub(super) struct Disk {
    queue: Vec<Request>,
    outside: VecDeque<Request>,
    head: f64,
    now: f64,
}

impl Disk {
    const QUEUE: usize = 32;
    const TURN: f64 = 60.0 / 7200.0;
    const BYTES_PER_SECOND: f64 = 180e6;

    /// 1 ms from track to track, 8.5 ms for a third of the disk, 16 ms over all of it.
    fn seek(distance: f64) -> f64 {
        match distance {
            0.0 => 0.0,
            ..=0.333 => 1e-3 + 7.5e-3 * (distance / 0.333).sqrt(),
            _ => 8.5e-3 + 7.5e-3 * (distance - 0.333) / 0.667,
        }
    }

    /// The time until the read's first byte is below the head.
    fn way(&self, request: &Request) -> f64 {
        let seek = Disk::seek((request.place - self.head).abs());
        // The angle at which a place begins has nothing to do with its distance.
        let angle = (request.place * 1e4).fract() * Disk::TURN;
        let arrives = (self.now + seek) % Disk::TURN;
        seek + (angle - arrives + Disk::TURN) % Disk::TURN
    }
}

impl Model for Disk {
    fn start(&mut self, at: f64, request: Request, _: &mut Chance) {
        if self.queue.is_empty() {
            self.now = self.now.max(at);
        }
        match self.queue.len() < Disk::QUEUE {
            true => self.queue.push(request),
            false => self.outside.push_back(request),
        }
    }

    fn next(&mut self, _: &mut Chance) -> Option<Done> {
        let ways = self.queue.iter().map(|request| self.way(request));
        let (index, way) = ways.enumerate().min_by(|one, other| one.1.total_cmp(&other.1))?;
        let request = self.queue.swap_remove(index);
        self.queue.extend(self.outside.pop_front());
        let alone = way + request.bytes / Disk::BYTES_PER_SECOND;
        self.now += alone;
        self.head = request.place;
        Some(Done { number: request.number, at: self.now, alone })
    }
}

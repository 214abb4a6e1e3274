//! An explanation as JSON.

use innoscan_engine::scan::ScanOptions;
use innoscan_io::Device;
use serde_json::{Value, json};

use super::{Cost, Explanation, choose};

/// The version of the object.
const FORMAT: u32 = 1;

impl Explanation {
    /// The explanation of a table as a JSON object, with the costs on devices, each by its name.
    pub fn to_json<'c>(
        &self,
        table: &str,
        devices: impl Iterator<Item = (&'c str, Device, &'c [Cost])>,
        options: &ScanOptions,
    ) -> Value {
        let device = |(name, device, costs): (&str, Device, &[Cost])| {
            json!({
                "name": name,
                "iops": device.iops,
                "bytes_per_second": device.bytes_per_second,
                "latency_us": device.latency.as_micros() as u64,
                "costs": costs.iter().map(|cost| self.cost_json(cost)).collect::<Vec<_>>(),
                "best": choose(costs, options).map(|cost| self.cost_json(cost)),
            })
        };
        let run = |window: u64| json!({ "window_bytes": window, "mean_run_pages": self.mean_run(window) });
        json!({
            "format": FORMAT,
            "table": table,
            "page_bytes": self.page_bytes,
            "unzip_seconds": self.unzip_time().as_secs_f64(),
            "file_pages": self.file_pages,
            "leaf_pages": self.leaves(),
            "branch_pages": self.branch_pages,
            "branch_requests": self.branch_reads.requests(),
            "free_pages": self.free_pages,
            "other_index_pages": self.owners.other_index_pages,
            "lob_pages": self.lob_pages(),
            "reserve_pages": self.owners.reserve_pages,
            "adjacent_share": self.adjacent_share(),
            "runs": self.windows_bytes().into_iter().map(run).collect::<Vec<_>>(),
            "devices": devices.map(device).collect::<Vec<_>>(),
        })
    }

    fn cost_json(&self, cost: &Cost) -> Value {
        json!({
            "policy": cost.plan.policy.to_string(),
            "order": cost.plan.order.name(),
            "window_bytes": cost.plan.window(),
            "memory_bytes": cost.plan.memory_bytes,
            "spilled_bytes": cost.spilled_bytes,
            "requests": cost.requests(),
            "demand_requests": cost.reads.demand_pages,
            "read_bytes": cost.pages() * self.page_bytes,
            "device_seconds": cost.device_time.as_secs_f64(),
            "scan_seconds": cost.scan_time.as_secs_f64(),
        })
    }
}

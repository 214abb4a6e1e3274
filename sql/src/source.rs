//! The scan of a table in a plan. One physical scan, with all its decode threads, gives its batches to whichever of the
//! partitions asks next: scans beside each other would fight over the device and the memory.

use std::any::Any;
use std::fmt::{self, Formatter};
use std::sync::{Arc, Mutex as SyncMutex, PoisonError};

use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::common::config::ConfigOptions;
use datafusion::common::stats::Precision;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::common::{ColumnStatistics, Result, Statistics, internal_err};
use datafusion::datasource::source::{DataSource, OpenArgs};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::expressions::Column;
use datafusion::physical_expr::projection::ProjectionExprs;
use datafusion::physical_expr::{
    EquivalenceProperties, LexOrdering, Partitioning, PhysicalExpr, PhysicalSortExpr,
};
use datafusion::physical_plan::DisplayFormatType;
use datafusion::physical_plan::filter_pushdown::{FilterPushdownPropagation, PushedDown};
use datafusion::physical_plan::sort_pushdown::SortOrderPushdownResult;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use innoscan::{RowOrder, ScanOptions, Table};
use innoscan_columnar::{BatchReader, PushDown, TypeOptions};
use tokio::sync::{Mutex, mpsc};

use crate::filters::conditions;
use crate::table::external;

/// Batches that wait for a partition to ask for them.
const BATCHES_MAX: usize = 2;

/// The rows of a table, and what a plan must know of them.
pub struct Rows {
    pub table: Table,
    pub options: ScanOptions,
    pub types: TypeOptions,
    pub push_down: PushDown,
    /// The first columns of the primary key whose order a plan can use.
    pub key: Vec<String>,
    pub estimated_rows: u64,
}

impl fmt::Debug for Rows {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Rows").field(&self.table.qualified_name()).finish()
    }
}

/// A scan of some columns.
#[derive(Clone, Debug)]
pub struct TableSource {
    rows: Arc<Rows>,
    schema: SchemaRef,
    partitions: usize,
    limit: Option<usize>,
    filters: Vec<Arc<dyn PhysicalExpr>>,
    /// Whether rows are given in the order of the key, by one partition.
    in_key_order: bool,
}

/// The batches of one execution, which the partitions share.
struct Batches {
    receiver: Mutex<Option<mpsc::Receiver<Result<RecordBatch>>>>,
    /// What to read, until the first partition asks.
    unread: SyncMutex<Option<TableSource>>,
}

impl TableSource {
    pub fn new(
        rows: Arc<Rows>,
        schema: SchemaRef,
        partitions: usize,
        limit: Option<usize>,
    ) -> TableSource {
        let filters = Vec::new();
        TableSource { rows, schema, partitions, limit, filters, in_key_order: false }
    }

    /// Reads on a thread of its own: what the filters say by then limits which pages are read.
    fn begin(self) -> Result<mpsc::Receiver<Result<RecordBatch>>> {
        let names = self.schema.fields().iter().map(|field| field.name().as_str());
        let mut rows = self.rows.table.rows().options(self.rows.options.clone());
        rows = rows.columns(names).order(self.order());
        let conditions = conditions(&self.filters, &self.rows.push_down);
        if !conditions.is_empty() {
            rows = rows.condition(conditions.join(" AND "));
        }
        if let Some(limit) = self.limit {
            rows = rows.limit(limit as u64);
        }
        let selection = rows.selection().map_err(external)?;
        let reader = BatchReader::new(selection, &self.rows.types).map_err(external)?;
        let (sender, receiver) = mpsc::channel(BATCHES_MAX);
        let read = move || {
            for batch in reader {
                // The receiver is gone when the query needs no more rows.
                if sender.blocking_send(batch.map_err(Into::into)).is_err() {
                    return;
                }
            }
        };
        let thread = std::thread::Builder::new().name("rows".to_owned()).spawn(read);
        thread.map_err(|error| external(innoscan_engine::Error::no_thread(error)))?;
        Ok(receiver)
    }

    fn order(&self) -> RowOrder {
        if self.in_key_order { RowOrder::Key } else { RowOrder::Any }
    }

    /// The ordering by the key's columns, as far as they are selected.
    fn key_ordering(&self) -> Vec<PhysicalSortExpr> {
        let column =
            |name: &String| Some(Arc::new(Column::new_with_schema(name, &self.schema).ok()?));
        let columns = self.rows.key.iter().map_while(column);
        columns.map(|column| PhysicalSortExpr::new_default(column)).collect()
    }

    fn batches(&self) -> Batches {
        Batches { receiver: Mutex::new(None), unread: SyncMutex::new(Some(self.clone())) }
    }

    fn stream(&self, batches: Arc<Batches>) -> SendableRecordBatchStream {
        let next = |batches: Arc<Batches>| async move {
            let batch = batches.next().await?;
            Some((batch, batches))
        };
        let stream = futures::stream::unfold(batches, next);
        Box::pin(RecordBatchStreamAdapter::new(Arc::clone(&self.schema), stream))
    }
}

impl Batches {
    async fn next(&self) -> Option<Result<RecordBatch>> {
        let mut receiver = self.receiver.lock().await;
        let unread = self.unread.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(source) = unread {
            match source.begin() {
                Ok(begun) => *receiver = Some(begun),
                Err(error) => return Some(Err(error)),
            }
        }
        receiver.as_mut()?.recv().await
    }
}

impl DataSource for TableSource {
    fn open(&self, _: usize, _: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        if self.partitions > 1 {
            // Each partition would give all rows.
            return internal_err!("the partitions of a table are opened without what they share");
        }
        Ok(self.stream(Arc::new(self.batches())))
    }

    fn create_sibling_state(&self, _: &ConfigOptions) -> Option<Arc<dyn Any + Send + Sync>> {
        Some(Arc::new(self.batches()))
    }

    fn open_with_args(&self, args: OpenArgs) -> Result<SendableRecordBatchStream> {
        match args.sibling_state.and_then(|state| state.downcast::<Batches>().ok()) {
            Some(batches) => Ok(self.stream(batches)),
            None => self.open(args.partition, args.context),
        }
    }

    fn fmt_as(&self, kind: DisplayFormatType, f: &mut Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> =
            self.schema.fields().iter().map(|field| field.name().as_str()).collect();
        let mut facts = vec![
            ("table", self.rows.table.qualified_name()),
            ("columns", format!("[{}]", names.join(", "))),
        ];
        let conditions = conditions(&self.filters, &self.rows.push_down);
        if !conditions.is_empty() {
            facts.push(("reads", conditions.join(" AND ")));
        }
        if !self.filters.is_empty() {
            let filters: Vec<String> = self.filters.iter().map(ToString::to_string).collect();
            facts.push(("filters", format!("[{}]", filters.join(", "))));
        }
        if let Some(limit) = self.limit {
            facts.push(("limit", limit.to_string()));
        }
        facts.push(("order", self.order().name().to_owned()));
        facts.push(("partitions", self.partitions.to_string()));
        match kind {
            DisplayFormatType::TreeRender => {
                facts.iter().try_for_each(|(name, value)| writeln!(f, "{name}={value}"))
            }
            _ => {
                let facts: Vec<String> =
                    facts.iter().map(|(name, value)| format!("{name}={value}")).collect();
                write!(f, "innodb, {}", facts.join(", "))
            }
        }
    }

    fn output_partitioning(&self) -> Partitioning {
        Partitioning::UnknownPartitioning(self.partitions)
    }

    fn eq_properties(&self) -> EquivalenceProperties {
        let ordering = self.in_key_order.then(|| LexOrdering::new(self.key_ordering())).flatten();
        let schema = Arc::clone(&self.schema);
        EquivalenceProperties::new_with_orderings(schema, ordering)
    }

    fn partition_statistics(&self, partition: Option<usize>) -> Result<Arc<Statistics>> {
        let share = |whole: u64| {
            let parts = if partition.is_some() { self.partitions } else { 1 };
            Precision::Inexact(usize::try_from(whole).unwrap_or(usize::MAX) / parts)
        };
        let rows = self.limit.map_or(u64::MAX, |limit| limit as u64).min(self.rows.estimated_rows);
        Ok(Arc::new(Statistics {
            num_rows: share(rows),
            total_byte_size: share(self.rows.table.size_bytes()),
            column_statistics: vec![ColumnStatistics::new_unknown(); self.schema.fields().len()],
        }))
    }

    fn with_fetch(&self, limit: Option<usize>) -> Option<Arc<dyn DataSource>> {
        Some(Arc::new(TableSource { limit, ..self.clone() }))
    }

    fn fetch(&self) -> Option<usize> {
        self.limit
    }

    fn try_swapping_with_projection(
        &self,
        _: &ProjectionExprs,
    ) -> Result<Option<Arc<dyn DataSource>>> {
        Ok(None)
    }

    /// Notes the filters; the plan filters again.
    fn try_pushdown_filters(
        &self,
        filters: Vec<Arc<dyn PhysicalExpr>>,
        _: &ConfigOptions,
    ) -> Result<FilterPushdownPropagation<Arc<dyn DataSource>>> {
        let mut source = self.clone();
        let pushed = vec![PushedDown::No; filters.len()];
        source.filters.extend(filters);
        let source: Arc<dyn DataSource> = Arc::new(source);
        Ok(FilterPushdownPropagation::with_parent_pushdown_result(pushed).with_updated_node(source))
    }

    fn try_pushdown_sort(
        &self,
        order: &[PhysicalSortExpr],
    ) -> Result<SortOrderPushdownResult<Arc<dyn DataSource>>> {
        let key = self.key_ordering();
        // Columns of a primary key are never NULL, so where NULLs go does not matter.
        let is_same = |(asked, of_key): (&PhysicalSortExpr, &PhysicalSortExpr)| {
            !asked.options.descending && asked.expr.as_ref() == of_key.expr.as_ref()
        };
        if order.len() > key.len() || !order.iter().zip(&key).all(is_same) {
            return Ok(SortOrderPushdownResult::Unsupported);
        }
        let source = TableSource { in_key_order: true, partitions: 1, ..self.clone() };
        Ok(SortOrderPushdownResult::Exact { inner: Arc::new(source) })
    }

    fn apply_expressions(
        &self,
        f: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        for filter in &self.filters {
            if f(filter)? == TreeNodeRecursion::Stop {
                return Ok(TreeNodeRecursion::Stop);
            }
        }
        Ok(TreeNodeRecursion::Continue)
    }
}

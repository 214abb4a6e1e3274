//! A table for DataFusion.

use std::sync::Arc;

use async_trait::async_trait;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::arrow::record_batch::RecordBatchReader;
use datafusion::catalog::{Session, TableProvider};
use datafusion::common::Result;
use datafusion::datasource::TableType;
use datafusion::datasource::source::DataSourceExec;
use datafusion::error::DataFusionError;
use datafusion::logical_expr::Expr;
use datafusion::physical_plan::ExecutionPlan;
use innoscan::{IndexSource, ScanOptions, Table};
use innoscan_columnar::{BatchReader, Comparable, PushDown, TypeOptions};

use crate::source::{Rows, TableSource};

/// A table of a data directory, or of a path.
#[derive(Debug)]
pub struct InnodbTable {
    rows: Arc<Rows>,
    schema: SchemaRef,
    create_sql: String,
}

impl InnodbTable {
    /// A table that is read with these options. Its upper branch pages are read, to estimate its rows.
    ///
    /// # Errors
    /// The table cannot be read.
    pub fn new(table: Table, options: &ScanOptions) -> innoscan::Result<InnodbTable> {
        let types = TypeOptions::default();
        let selection = table.rows().options(options.clone()).selection()?;
        let schema = BatchReader::new(selection, &types)?.schema();
        let push_down = PushDown::new(&table.def, &schema);
        let estimated_rows = table.splits(1)?.first().map_or(0, |split| split.estimated_rows());
        let rows = Rows {
            key: key_columns(&table, &push_down),
            push_down,
            estimated_rows,
            options: options.clone(),
            types,
            table,
        };
        let create_sql = rows.table.def.to_create_table();
        Ok(InnodbTable { rows: Arc::new(rows), schema, create_sql })
    }
}

/// The first columns of the primary key whose order is that of DataFusion. Dates are not: zero dates are first in the
/// key, and NULL in DataFusion.
fn key_columns(table: &Table, push_down: &PushDown) -> Vec<String> {
    // Partitions are read one after the other, so their keys are not in one order.
    if table.files.len() > 1 {
        return Vec::new();
    }
    let parts = table.def.primary_key().into_iter().flat_map(|key| &key.parts);
    let columns = parts.map_while(|part| match part.source {
        IndexSource::Column(number) if !part.descending && part.prefix_chars.is_none() => {
            let name = &table.columns().get(number)?.name;
            let is_ordered = matches!(
                push_down.column(name)?,
                Comparable::Integer | Comparable::Decimal { .. } | Comparable::Bytes
            );
            is_ordered.then(|| name.clone())
        }
        _ => None,
    });
    columns.collect()
}

#[async_trait]
impl TableProvider for InnodbTable {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    fn table_type(&self) -> TableType {
        TableType::Base
    }

    fn get_table_definition(&self) -> Option<&str> {
        Some(&self.create_sql)
    }

    async fn scan(
        &self,
        state: &dyn Session,
        projection: Option<&Vec<usize>>,
        _filters: &[Expr],
        limit: Option<usize>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let schema = match projection {
            Some(columns) => Arc::new(self.schema.project(columns)?),
            None => Arc::clone(&self.schema),
        };
        let partitions = state.config().target_partitions();
        let source = TableSource::new(Arc::clone(&self.rows), schema, partitions, limit);
        Ok(DataSourceExec::from_data_source(source))
    }
}

/// An error of the library as one of DataFusion.
pub fn external(error: innoscan::Error) -> DataFusionError {
    DataFusionError::External(Box::new(error))
}

//! Arguments for data files that are not in the data directory, with the names of the server's own options,
//! and for what its files leave open.

use std::path::PathBuf;

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use innoscan_catalog::Prepared;
use innoscan_catalog::data_files::DataFiles;
use innoscan_catalog::system_files::{DataFilePath, SystemFiles};

/// Where a server's data files are, and what they leave open.
#[derive(Clone, Debug, Default, Args)]
pub struct DataFileArgs {
    /// Directories with files of tables outside of the data directory (DATA DIRECTORY, general
    /// tablespaces), written like the server's innodb_directories: separated by semicolons
    #[arg(long, value_delimiter = ';', value_name = "DIRS")]
    pub innodb_directories: Vec<PathBuf>,

    /// Incremental backup by mariadb-backup on the directory, which is its base; again for each one on that, oldest
    /// first. None of them is prepared, and nothing is written
    #[arg(long, value_name = "DIR")]
    pub incremental: Vec<PathBuf>,

    /// Directory of the system tablespace, as the server's innodb_data_home_dir [default: the data
    /// directory]
    #[arg(hide_short_help = true, long, value_name = "DIR")]
    pub innodb_data_home_dir: Option<PathBuf>,

    /// Files of the system tablespace, written like the server's innodb_data_file_path:
    /// 'ibdata1:12M;ibdata2:5M:autoextend' [default: ibdata1, and ibdata2 and so on where it is
    /// larger]
    #[arg(hide_short_help = true, long, value_name = "FILES")]
    pub innodb_data_file_path: Option<DataFilePath>,

    /// Directory of the undo tablespaces, as the server's innodb_undo_directory [default: the data
    /// directory]
    #[arg(hide_short_help = true, long, value_name = "DIR")]
    pub innodb_undo_directory: Option<PathBuf>,

    /// Prepared transactions that no binary log in the directory has: show their changes (commit), take them
    /// back (rollback), or read nothing (refuse). Those of XA PREPARE are taken back except with commit
    #[arg(hide_short_help = true, long, default_value = Prepared::default().word(), value_name = "WHAT",
          value_parser = PossibleValuesParser::new(Prepared::WORDS).try_map(|word| word.parse::<Prepared>()))]
    pub prepared: Prepared,
}

impl DataFileArgs {
    /// These places, as far as they are named.
    pub fn files(&self) -> DataFiles {
        DataFiles {
            system: SystemFiles {
                home: self.innodb_data_home_dir.clone(),
                path: self.innodb_data_file_path.clone(),
            },
            undo_directory: self.innodb_undo_directory.clone(),
            directories: self.innodb_directories.clone(),
            incrementals: DataFiles::incrementals_of(&self.incremental),
        }
    }
}

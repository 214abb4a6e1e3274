//! Arguments for the keys of encrypted tables, with the names of the servers' own options.

use std::path::PathBuf;

use clap::Args;
use innoscan_catalog::key_files::{KeyAlgorithms, KeyFiles, digest_of, mode_of};
use innoscan_catalog::option_file::OptionFiles;
use innoscan_format::keys::DigestName;
use innoscan_format::page::encryption::CipherMode;

/// The files with the keys.
#[derive(Clone, Debug, Default, Args)]
#[command(
    next_help_heading = "Keys of encrypted tables [default: as the server finds them, by its option files]"
)]
pub struct KeyFileArgs {
    /// MySQL: the server's keyring (of keyring_file or component_keyring_file, or the component's
    /// .cnf), or a list with lines NAME=HEX (docs/encryption.md)
    #[arg(hide_short_help = true, long, value_name = "FILE")]
    pub keyring: Option<PathBuf>,

    /// MariaDB: the server's key file, or a list with lines ID;VERSION;HEX
    #[arg(hide_short_help = true, long, value_name = "FILE")]
    pub file_key_management_filename: Option<PathBuf>,

    /// The file with the password of the key file
    #[arg(hide_short_help = true, long, value_name = "FILE:PATH", value_parser = password_file,
          requires = "file_key_management_filename")]
    pub file_key_management_filekey: Option<PathBuf>,

    /// How tables are encrypted: aes_cbc or aes_ctr [default: as the tables show]
    #[arg(hide_short_help = true, long, value_name = "NAME", value_parser = mode)]
    pub file_key_management_encryption_algorithm: Option<CipherMode>,

    /// The digest of the password, since MariaDB 12.0 [default: sha1]
    #[arg(hide_short_help = true, long, value_name = "NAME", value_parser = digest,
          requires = "file_key_management_filekey")]
    pub file_key_management_digest: Option<DigestName>,

    /// The iterations of PBKDF2 for the password, since MariaDB 12.0
    #[arg(
        hide_short_help = true,
        long,
        value_name = "N",
        default_value_t = 0,
        requires = "file_key_management_filekey"
    )]
    pub file_key_management_use_pbkdf2: u32,
}

/// The option files of servers and clients.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Option files")]
pub struct OptionFileArgs {
    /// Read only this option file
    #[arg(long, value_name = "FILE")]
    pub defaults_file: Option<PathBuf>,

    /// Read this option file after the usual ones
    #[arg(hide_short_help = true, long, value_name = "FILE")]
    pub defaults_extra_file: Option<PathBuf>,

    /// Read no option file
    #[arg(hide_short_help = true, long)]
    pub no_defaults: bool,
}

/// The keys of commands that connect to no server.
#[derive(Clone, Debug, Default, Args)]
pub struct OfflineKeyArgs {
    #[command(flatten)]
    pub key_files: KeyFileArgs,

    #[command(flatten)]
    pub option_files: OptionFileArgs,
}

impl OptionFileArgs {
    /// The option files to read.
    pub fn files(&self) -> OptionFiles {
        OptionFiles {
            only: self.defaults_file.clone(),
            extra: self.defaults_extra_file.clone(),
            none: self.no_defaults,
        }
    }
}

impl KeyFileArgs {
    /// These files, with the option files of a command that can connect to a server.
    pub fn with(&self, option_files: &OptionFileArgs) -> OfflineKeyArgs {
        OfflineKeyArgs { key_files: self.clone(), option_files: option_files.clone() }
    }

    /// The files with keys.
    pub fn files(&self, option_files: &OptionFileArgs) -> KeyFiles {
        KeyFiles {
            keyring: self.keyring.clone(),
            key_file: self.file_key_management_filename.clone(),
            password_file: self.file_key_management_filekey.clone(),
            algorithms: KeyAlgorithms {
                mode: self.file_key_management_encryption_algorithm,
                digest: self.file_key_management_digest.unwrap_or_default(),
                pbkdf2_iterations: self.file_key_management_use_pbkdf2,
            },
            option_files: option_files.files(),
        }
    }
}

fn password_file(typed: &str) -> Result<PathBuf, String> {
    match typed.strip_prefix("FILE:") {
        Some(path) if !path.is_empty() => Ok(PathBuf::from(path)),
        // The message is made where it can be without the value, in `answered`.
        _ => Err("not FILE:PATH".to_owned()),
    }
}

fn mode(typed: &str) -> Result<CipherMode, String> {
    mode_of(typed).map_err(|error| error.to_string())
}

fn digest(typed: &str) -> Result<DigestName, String> {
    digest_of(typed).map_err(|error| error.to_string())
}

//! The library's one error: opaque, with predicates for what a caller can do about it.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use innoscan_format as format;

/// The result of the library's calls.
pub type Result<T> = std::result::Result<T, Error>;

/// Why something could not be done, with the file it happened in.
#[derive(Debug)]
pub struct Error {
    kind: Kind,
    file: Option<PathBuf>,
}

#[derive(Debug)]
enum Kind {
    Format(format::Error),
    Read { doing: String, source: io::Error },
    Write { doing: String, source: io::Error },
    Refused { why: String, remedy: String, directory: bool },
    Server { doing: String, said: String },
    Resources(String),
    Interrupted,
}

impl Error {
    /// A read that the system refused: what was being done, and its error.
    #[cold]
    pub fn read(doing: impl Into<String>, source: io::Error) -> Error {
        Error::new(Kind::Read { doing: doing.into(), source })
    }

    /// A write that the system refused.
    #[cold]
    pub fn write(doing: impl Into<String>, source: io::Error) -> Error {
        Error::new(Kind::Write { doing: doing.into(), source })
    }

    /// Something that could be done but must not be: why, and the ways out.
    #[cold]
    pub fn refused(why: impl Into<String>, remedy: impl Into<String>) -> Error {
        Error::new(Kind::Refused { why: why.into(), remedy: remedy.into(), directory: false })
    }

    /// A data directory none of whose tables may be read.
    #[cold]
    pub fn refused_directory(why: impl Into<String>, remedy: impl Into<String>) -> Error {
        Error::new(Kind::Refused { why: why.into(), remedy: remedy.into(), directory: true })
    }

    /// A server, or the way to it: what was being done, and what was said.
    #[cold]
    pub fn server(doing: impl Into<String>, said: impl Into<String>) -> Error {
        Error::new(Kind::Server { doing: doing.into(), said: said.into() })
    }

    /// Memory, descriptors or another bounded thing did not suffice.
    #[cold]
    pub fn resources(what: impl Into<String>) -> Error {
        Error::new(Kind::Resources(what.into()))
    }

    /// The user asked to stop.
    #[cold]
    pub fn interrupted() -> Error {
        Error::new(Kind::Interrupted)
    }

    fn new(kind: Kind) -> Error {
        Error { kind, file: None }
    }

    /// Adds the file, unless a nearer caller named one.
    #[must_use]
    pub fn in_file(mut self, path: &Path) -> Error {
        self.file.get_or_insert_with(|| path.to_owned());
        self
    }

    /// The file it happened in.
    pub fn file(&self) -> Option<&Path> {
        self.file.as_deref()
    }

    /// Damaged bytes: what `--on-corrupt skip` may pass over.
    pub fn is_corrupt(&self) -> bool {
        matches!(&self.kind, Kind::Format(error) if error.is_corrupt())
    }

    /// A form of table that is not read.
    pub fn is_unsupported(&self) -> bool {
        matches!(&self.kind, Kind::Format(format::Error::Unsupported { .. }))
    }

    /// What was asked for is not done, as nothing there could be read or should be.
    pub fn is_refused(&self) -> bool {
        matches!(self.kind, Kind::Refused { .. })
    }

    /// The device or file system refused to read.
    pub fn is_read(&self) -> bool {
        matches!(self.kind, Kind::Read { .. })
    }

    /// Adds to the format's own error, when it is one.
    #[must_use]
    pub fn map_format(mut self, add: impl FnOnce(format::Error) -> format::Error) -> Error {
        if let Kind::Format(error) = self.kind {
            self.kind = Kind::Format(add(error));
        }
        self
    }

    /// The format's own error, when it is one.
    pub fn as_format(&self) -> Option<&format::Error> {
        match &self.kind {
            Kind::Format(error) => Some(error),
            _ => None,
        }
    }

    /// A whole data directory was refused, not one table of it.
    pub fn is_directory(&self) -> bool {
        matches!(self.kind, Kind::Refused { directory: true, .. })
    }

    /// The output could not be written.
    pub fn is_write(&self) -> bool {
        matches!(self.kind, Kind::Write { .. })
    }

    /// The reader of the output went away: nothing to report.
    pub fn is_broken_pipe(&self) -> bool {
        matches!(&self.kind, Kind::Write { source, .. } if source.kind() == io::ErrorKind::BrokenPipe)
    }

    /// A server, or the way to it, did not do what it was asked.
    pub fn is_server(&self) -> bool {
        matches!(self.kind, Kind::Server { .. })
    }

    /// Memory or another resource did not suffice.
    pub fn is_resources(&self) -> bool {
        matches!(self.kind, Kind::Resources(_))
    }

    /// The user asked to stop.
    pub fn is_interrupted(&self) -> bool {
        matches!(self.kind, Kind::Interrupted)
    }
}

impl From<format::Error> for Error {
    fn from(error: format::Error) -> Error {
        Error::new(Kind::Format(error))
    }
}

impl From<innoscan_io::Error> for Error {
    fn from(error: innoscan_io::Error) -> Error {
        match error {
            innoscan_io::Error::Open { path, source } => {
                Error::read("cannot open the file", source).in_file(&path)
            }
            innoscan_io::Error::NoDirect { path, source } => Error::refused(
                format!("the file system refuses O_DIRECT ({source})"),
                "use --direct optional or --direct off",
            )
            .in_file(&path),
            innoscan_io::Error::Unmeasured { path, what } => Error::refused(
                format!("its device cannot be measured: {what}"),
                "name one: --device hdd, gp3, ssd, nvme or iops=..,bw=..",
            )
            .in_file(&path),
            error @ innoscan_io::Error::Memory { .. } => Error::resources(error.to_string()),
            innoscan_io::Error::Engine { engine, source } => Error::read(engine, source),
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(file) = &self.file {
            write!(f, "{}: ", file.display())?;
        }
        match &self.kind {
            Kind::Format(error) => error.fmt(f),
            Kind::Read { doing, source } | Kind::Write { doing, source } => {
                write!(f, "{doing}: {source}")
            }
            Kind::Refused { why, remedy, .. } => write!(f, "{why}; {remedy}"),
            Kind::Server { doing, said } => write!(f, "{doing}: {said}"),
            Kind::Resources(what) => f.write_str(what),
            Kind::Interrupted => f.write_str("interrupted"),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &self.kind {
            Kind::Read { source, .. } | Kind::Write { source, .. } => Some(source),
            _ => None,
        }
    }
}

//! The library's error type: its kind, the place, and the remedies.

use std::fmt;
use std::io;
use std::path::Path;

use innoscan_format as format;

use crate::remedy::{Reason, Remedies, Remedy};

/// The result of the library's calls.
pub type Result<T> = std::result::Result<T, Error>;

/// The kind of an error, for callers that react differently to each.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ErrorKind {
    /// Damaged bytes; [`Error::place`] returns where. Remedies depend on the caller: a scan can skip
    /// damage ([`Remedy::SkipDamagedPages`]), a check lists all of it
    /// ([`Remedy::CheckFile`]).
    Corrupt,
    /// Sound bytes in a form that this version does not read.
    Unsupported,
    /// Encrypted bytes whose key is not known.
    NoKey,
    /// Encrypted bytes that the given key does not decrypt.
    WrongKey,
    /// A table definition that cannot be parsed, or does not belong to the file.
    Schema,
    /// A file, directory, database or table that does not exist.
    NotFound,
    /// The system denies this user access.
    Permission,
    /// A read that the device or the file system failed.
    Read,
    /// An output that could not be written.
    Write,
    /// An output whose reader went away.
    BrokenPipe,
    /// A request that makes no sense: a condition, a pattern, options that exclude each other.
    Usage,
    /// An operation that is possible but unsafe, on this table or output.
    Refused,
    /// A whole data directory that is unsafe to read.
    RefusedDirectory,
    /// A failure of a server, or of the connection to it.
    Server,
    /// Not enough memory, threads or another limited resource.
    Resources,
    /// The caller's request to stop.
    Interrupted,
}

/// An error: what failed and why, in which file, and the remedies.
///
/// It is one pointer, because a result is returned for each row.
#[derive(Debug)]
pub struct Error(Box<Body>);

#[derive(Debug)]
struct Body {
    repr: Repr,
    file: Option<Box<Path>>,
    remedies: Remedies,
}

#[derive(Debug)]
enum Repr {
    Format(format::Error),
    Read { doing: String, source: io::Error },
    Write { doing: String, source: io::Error },
    Refused { kind: ErrorKind, why: String },
    Server { doing: String, said: String },
    Resources(String),
    Interrupted,
}

impl Error {
    /// A read that the system refused: the operation, and the system's error.
    #[cold]
    pub fn read(doing: impl Into<String>, source: io::Error) -> Error {
        Error::new(Repr::Read { doing: doing.into(), source })
    }

    /// A write that the system refused: the operation, and the system's error.
    #[cold]
    pub fn write(doing: impl Into<String>, source: io::Error) -> Error {
        Error::new(Repr::Write { doing: doing.into(), source })
    }

    /// An operation that is possible but unsafe: the reason, and the remedies.
    #[cold]
    pub fn refused(why: impl Into<String>, remedies: impl Into<Remedies>) -> Error {
        Error::with(ErrorKind::Refused, why, remedies)
    }

    /// A data directory none of whose tables is safe to read.
    #[cold]
    pub fn refused_directory(why: impl Into<String>, remedies: impl Into<Remedies>) -> Error {
        Error::with(ErrorKind::RefusedDirectory, why, remedies)
    }

    /// Something named by the user that does not exist.
    #[cold]
    pub fn not_found(why: impl Into<String>, remedies: impl Into<Remedies>) -> Error {
        Error::with(ErrorKind::NotFound, why, remedies)
    }

    /// Something that this user may not read.
    #[cold]
    pub fn permission(why: impl Into<String>, remedies: impl Into<Remedies>) -> Error {
        Error::with(ErrorKind::Permission, why, remedies)
    }

    /// A request that makes no sense.
    #[cold]
    pub fn usage(why: impl Into<String>, remedies: impl Into<Remedies>) -> Error {
        Error::with(ErrorKind::Usage, why, remedies)
    }

    /// A failure of a server, or of the connection to it: the operation, and the server's message.
    #[cold]
    pub fn server(doing: impl Into<String>, said: impl Into<String>) -> Error {
        Error::new(Repr::Server { doing: doing.into(), said: said.into() })
    }

    /// Not enough memory, descriptors or another limited resource.
    #[cold]
    pub fn resources(what: impl Into<String>) -> Error {
        Error::new(Repr::Resources(what.into()))
    }

    /// A thread cannot be started.
    #[cold]
    pub fn no_thread(error: io::Error) -> Error {
        Error::resources(format!("cannot start a thread: {error}"))
    }

    /// The user's request to stop.
    #[cold]
    pub fn interrupted() -> Error {
        Error::new(Repr::Interrupted)
    }

    fn with(kind: ErrorKind, why: impl Into<String>, remedies: impl Into<Remedies>) -> Error {
        Error::new(Repr::Refused { kind, why: why.into() }).with_remedies(remedies.into())
    }

    fn new(repr: Repr) -> Error {
        Error(Box::new(Body { repr, file: None, remedies: Remedies::default() }))
    }

    fn with_remedies(mut self, remedies: Remedies) -> Error {
        self.0.remedies = remedies;
        self
    }

    /// Adds the file, unless the error already has one.
    #[must_use]
    pub fn in_file(mut self, path: &Path) -> Error {
        self.0.file.get_or_insert_with(|| path.into());
        self
    }

    /// Adds a remedy.
    #[must_use]
    pub fn with_remedy(mut self, remedy: impl Into<Remedy>) -> Error {
        self.0.remedies.push(remedy.into());
        self
    }

    /// The kind of the error.
    pub fn kind(&self) -> ErrorKind {
        match &self.0.repr {
            Repr::Format(error) => match error.cause() {
                format::Cause::Corrupt { .. } => ErrorKind::Corrupt,
                format::Cause::Unsupported { .. } => ErrorKind::Unsupported,
                format::Cause::NoKey { .. } => ErrorKind::NoKey,
                format::Cause::WrongKey { .. } => ErrorKind::WrongKey,
                format::Cause::Schema(_) => ErrorKind::Schema,
            },
            Repr::Read { source, .. } => match source.kind() {
                io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => ErrorKind::NotFound,
                io::ErrorKind::PermissionDenied => ErrorKind::Permission,
                _ => ErrorKind::Read,
            },
            Repr::Write { source, .. } if source.kind() == io::ErrorKind::BrokenPipe => {
                ErrorKind::BrokenPipe
            }
            Repr::Write { .. } => ErrorKind::Write,
            Repr::Refused { kind, .. } => *kind,
            Repr::Server { .. } => ErrorKind::Server,
            Repr::Resources(_) => ErrorKind::Resources,
            Repr::Interrupted => ErrorKind::Interrupted,
        }
    }

    /// Whether a key of encrypted bytes is missing or wrong.
    pub fn is_of_key(&self) -> bool {
        matches!(self.kind(), ErrorKind::NoKey | ErrorKind::WrongKey)
    }

    /// The file in which the error occurred.
    pub fn file(&self) -> Option<&Path> {
        self.0.file.as_deref()
    }

    /// The place in the file where damage was found.
    pub fn place(&self) -> Option<&format::Place> {
        match self.as_format()?.cause() {
            format::Cause::Corrupt { place, .. } | format::Cause::WrongKey { place, .. } => {
                Some(place)
            }
            _ => None,
        }
    }

    /// The remedies, the best first; none where nothing can be done, where the message contains one, or,
    /// for damage, where they depend on the caller.
    pub fn remedies(&self) -> &[Remedy] {
        self.0.remedies.as_slice()
    }

    /// The message with its place, and the remedies apart from it.
    pub fn reason(&self) -> Reason {
        Reason { what: WithoutRemedies(self).to_string(), remedies: self.0.remedies.clone() }
    }

    /// Changes the format crate's own error, if this is one.
    #[must_use]
    pub fn map_format(mut self, add: impl FnOnce(format::Error) -> format::Error) -> Error {
        if let Repr::Format(error) = self.0.repr {
            self.0.repr = Repr::Format(add(error));
        }
        self
    }

    /// The format crate's own error, if this is one.
    pub fn as_format(&self) -> Option<&format::Error> {
        match &self.0.repr {
            Repr::Format(error) => Some(error),
            _ => None,
        }
    }
}

impl From<format::Error> for Error {
    fn from(error: format::Error) -> Error {
        let remedy = error.remedy().cloned().map(Remedy::from);
        let remedies = remedy.map_or_else(Remedies::default, Remedies::from);
        Error::new(Repr::Format(error)).with_remedies(remedies)
    }
}

impl From<Reason> for Error {
    fn from(Reason { what, remedies }: Reason) -> Error {
        Error::refused(what, remedies)
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
                Remedy::UsePageCache,
            )
            .in_file(&path),
            innoscan_io::Error::Unmeasured { path, what } => {
                Error::refused(format!("its device cannot be measured: {what}"), Remedy::NameDevice)
                    .in_file(&path)
            }
            error @ innoscan_io::Error::Memory { .. } => Error::resources(error.to_string()),
            innoscan_io::Error::Engine { engine, source } => Error::read(engine, source),
        }
    }
}

/// An error's message without its remedies.
struct WithoutRemedies<'e>(&'e Error);

impl fmt::Display for WithoutRemedies<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let WithoutRemedies(error) = self;
        if let Some(file) = &error.0.file {
            write!(f, "{}: ", file.display())?;
        }
        match &error.0.repr {
            Repr::Format(error) => error.what().fmt(f),
            Repr::Read { doing, source } | Repr::Write { doing, source } => {
                write!(f, "{doing}: {source}")
            }
            Repr::Refused { why, .. } => f.write_str(why),
            Repr::Server { doing, said } => write!(f, "{doing}: {said}"),
            Repr::Resources(what) => f.write_str(what),
            Repr::Interrupted => f.write_str("interrupted"),
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        WithoutRemedies(self).fmt(f)?;
        match self.remedies() {
            [] => Ok(()),
            _ => write!(f, "; {}", self.0.remedies),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &self.0.repr {
            Repr::Read { source, .. } | Repr::Write { source, .. } => Some(source),
            _ => None,
        }
    }
}

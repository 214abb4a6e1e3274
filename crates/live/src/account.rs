//! The address of a server, and the account to connect with.

use std::fmt;
use std::path::PathBuf;

use innoscan_engine::{Error, Remedy, Result};
use mysql::{OptsBuilder, SslOpts};

use innoscan_catalog::option_file::FileOptions;

/// The usual paths of a server's socket: Debian's and MySQL's own.
pub const SOCKETS: [&str; 3] =
    ["/run/mysqld/mysqld.sock", "/var/lib/mysql/mysql.sock", "/tmp/mysql.sock"];

/// The address of a server, and the account to connect with.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Account {
    /// The host name; `None` and `localhost` mean the socket.
    pub host: Option<String>,
    /// The TCP port; 3306 by default.
    pub port: Option<u16>,
    /// The path of the server's socket.
    pub socket: Option<PathBuf>,
    /// The user name; by default that of the process.
    pub user: Option<String>,
    /// The password; never printed.
    pub password: Option<Password>,
    /// The TLS mode of TCP connections; a socket has no TLS.
    pub tls: Tls,
    /// A file with the certificates of trusted authorities.
    pub tls_ca: Option<PathBuf>,
}

/// A password, which is never printed.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Password(pub String);

impl fmt::Debug for Password {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("(secret)")
    }
}

/// The TLS mode (`--ssl-mode`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tls {
    /// No TLS.
    Disabled,
    /// TLS if the server offers it.
    #[default]
    Preferred,
    /// TLS, or no connection.
    Required,
    /// TLS with a certificate that is signed by one of [`Account::tls_ca`].
    VerifyCa,
    /// As `VerifyCa`, with a certificate for this host name.
    VerifyIdentity,
}

impl Tls {
    /// The mode with this name, as `--ssl-mode` takes it.
    pub fn by_name(name: &str) -> Option<Tls> {
        Some(match &*name.to_ascii_uppercase() {
            "DISABLED" => Tls::Disabled,
            "PREFERRED" => Tls::Preferred,
            "REQUIRED" => Tls::Required,
            "VERIFY_CA" => Tls::VerifyCa,
            "VERIFY_IDENTITY" => Tls::VerifyIdentity,
            _ => return None,
        })
    }
}

impl Account {
    /// This account with missing fields filled in from option files, then from the environment.
    ///
    /// # Errors
    /// If a file has an invalid port or TLS mode.
    pub fn completed(mut self, files: &FileOptions) -> Result<Account> {
        let own = |name: &str| files.get(name).map(str::to_owned);
        // A host on the command line overrides a socket in an option file.
        if self.host.is_none() && self.socket.is_none() {
            self.host = own("host");
            self.socket = own("socket").map(PathBuf::from);
        }
        if let (None, Some(port)) = (self.port, own("port")) {
            let port = port.parse();
            self.port = Some(port.map_err(|_| of_file("port", "a number up to 65535"))?);
        }
        self.user = self.user.or_else(|| own("user"));
        self.password = self.password.or_else(|| own("password").map(Password));
        self.tls_ca = self.tls_ca.or_else(|| own("ssl-ca").map(PathBuf::from));
        if self.tls == Tls::Preferred {
            self.tls = tls_of_file(files)?;
        }
        let from_environment = || std::env::var("MYSQL_PWD").ok().map(Password);
        self.password = self.password.or_else(from_environment);
        self.user = self.user.or_else(|| std::env::var("USER").ok());
        Ok(self)
    }

    /// The server's socket; `None` for a TCP connection.
    pub fn socket(&self) -> Result<Option<PathBuf>> {
        if self.host.as_deref().is_some_and(|host| host != "localhost") {
            return Ok(None);
        }
        if let Some(socket) = &self.socket {
            return Ok(Some(socket.clone()));
        }
        let known = SOCKETS.map(PathBuf::from);
        known.iter().find(|socket| socket.exists()).cloned().map(Some).ok_or_else(|| {
            Error::not_found(
                format!("no server's socket is at {}", SOCKETS.join(", ")),
                Remedy::NameServer,
            )
        })
    }

    /// The address for messages.
    pub fn place(&self) -> String {
        match self.socket() {
            Ok(Some(socket)) => socket.display().to_string(),
            _ => format!(
                "{}:{}",
                self.host.as_deref().unwrap_or("localhost"),
                self.port.unwrap_or(3306)
            ),
        }
    }

    pub(crate) fn to_opts(&self, tls: Tls) -> Result<mysql::Opts> {
        let socket = self.socket()?;
        let is_local = socket.is_some();
        let socket = socket.map(|socket| socket.to_string_lossy().into_owned());
        let builder = OptsBuilder::new()
            .ip_or_hostname(Some(self.host.clone().unwrap_or_else(|| "localhost".to_owned())))
            .tcp_port(self.port.unwrap_or(3306))
            .prefer_socket(is_local)
            .socket(socket)
            .user(self.user.clone())
            .pass(self.password.clone().map(|password| password.0))
            .tcp_keepalive_time_ms(Some(1000));
        let ssl = match tls {
            _ if is_local => None,
            Tls::Disabled => None,
            Tls::Preferred | Tls::Required => {
                Some(SslOpts::default().with_danger_accept_invalid_certs(true))
            }
            Tls::VerifyCa => Some(self.checked_tls().with_danger_skip_domain_validation(true)),
            Tls::VerifyIdentity => Some(self.checked_tls()),
        };
        Ok(builder.ssl_opts(ssl).into())
    }

    fn checked_tls(&self) -> SslOpts {
        SslOpts::default().with_root_cert_path(self.tls_ca.clone())
    }
}

fn tls_of_file(files: &FileOptions) -> Result<Tls> {
    let is_off = |value: &str| matches!(value, "0" | "OFF" | "off" | "FALSE" | "false");
    if let Some(mode) = files.get("ssl-mode") {
        return Tls::by_name(mode).ok_or_else(|| of_file("ssl-mode", "a mode such as REQUIRED"));
    }
    if files.get("skip-ssl").is_some() || files.get("ssl").is_some_and(is_off) {
        return Ok(Tls::Disabled);
    }
    let verifies = files.get("ssl-verify-server-cert").is_some_and(|value| !is_off(value));
    Ok(if verifies { Tls::VerifyIdentity } else { Tls::Preferred })
}

fn of_file(name: &str, wanted: &str) -> Error {
    Error::refused(format!("{name} in an option file is not {wanted}"), "correct the option file")
}

//! Accounts and roles, from the rows of `mysql.user` and of the tables of privileges.

mod attributes;
mod grants;
mod privileges;
mod statement;

use innoscan_engine::{Error, Result};
use innoscan_format as format;
use innoscan_format::schema::quoted_name;

use self::grants::GrantTables;
use crate::mysql_ibd::{DictionaryFile, Row};
use crate::object::{Object, ObjectKind};
use crate::source::{FoundObject, Item, ItemKind, UnreadList};

/// Accounts that a server creates for itself.
const SERVER_ACCOUNTS: [&str; 3] = ["mysql.infoschema", "mysql.session", "mysql.sys"];

/// An account or role, identified by user and host.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Account {
    user: String,
    host: String,
}

impl Account {
    fn of(row: &Row, user: &str, host: &str) -> format::Result<Account> {
        let text = |column| row.text(column).map(str::to_owned);
        Ok(Account { user: text(user)?, host: text(host)? })
    }

    /// The name in `SHOW GRANTS`.
    fn in_backticks(&self) -> String {
        format!("{}@{}", quoted_name(&self.user), quoted_name(&self.host))
    }

    /// The name in an [`Object`].
    fn in_quotes(&self) -> String {
        format!("{}@{}", text_literal(&self.user), text_literal(&self.host))
    }

    /// Whether a row of grants is of this account: hosts are compared regardless of case
    fn is(&self, other: &Account) -> bool {
        self.user == other.user && self.host.eq_ignore_ascii_case(&other.host)
    }
}

/// A quoted text, for a session without `NO_BACKSLASH_ESCAPES`.
fn text_literal(text: &str) -> String {
    let text = text.replace('\\', "\\\\").replace('\'', "\\'").replace('\0', "\\0");
    format!("'{}'", text.replace('\n', "\\n").replace('\r', "\\r").replace('\u{1a}', "\\Z"))
}

/// The accounts and roles, each with its statement, grants and default roles.
pub(super) fn found(file: &DictionaryFile, unread: &mut Vec<UnreadList>) -> Vec<FoundObject> {
    let users = file.rows("user", &statement::columns(), |_| true);
    let mut fault = |error: Error| {
        let error = error.in_file(file.path());
        unread.push(UnreadList { kinds: vec![ItemKind::User], error });
    };
    if let Some(error) = users.error {
        fault(error);
    }
    let mut accounts = Vec::new();
    for row in users.rows {
        match Account::of(&row, "User", "Host") {
            // Names without a host come from other servers.
            Ok(account) if SERVER_ACCOUNTS.contains(&&*account.user) => {}
            Ok(account) => accounts.push((account, row)),
            Err(error) => fault(error.into()),
        }
    }
    accounts.sort_by(|one, other| one.0.cmp(&other.0));
    let grants = GrantTables::read(file);
    let found = accounts.iter().map(|(account, row)| {
        let item = Item::new("", ItemKind::User, &account.in_quotes());
        // Errors of the tables of grants concern each account, which may lack some grants.
        let statements = match &grants {
            Ok(grants) => statements(account, row, grants, file),
            Err(error) => Err(Error::refused(
                format!("a table of grants cannot be read: {error}"),
                "dump the accounts from the running server",
            )),
        };
        FoundObject { item, statements: statements.map_err(|error| error.in_file(file.path())) }
    });
    found.collect()
}

fn statements(
    account: &Account,
    row: &Row,
    grants: &GrantTables,
    file: &DictionaryFile,
) -> Result<Vec<Object>> {
    let name = account.in_quotes();
    let object = |kind, statements| Object {
        database: String::new(),
        kind,
        name: name.clone(),
        columns: Vec::new(),
        statements,
        session: None,
    };
    let create = statement::create_user(account, row, file.server())?;
    let mut objects = vec![
        object(ObjectKind::User, vec![create]),
        object(ObjectKind::Grants, grants.statements(account, row)?),
    ];
    objects.extend(
        grants.default_roles(account)?.map(|set| object(ObjectKind::DefaultRole, vec![set])),
    );
    Ok(objects)
}

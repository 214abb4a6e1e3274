//! Names of privileges, in the order in which the server prints them (`command_array`,
//! sql_authorization.cc, MySQL 9.7).

/// Static privileges: the column in `mysql.user` and `mysql.db`, and the name.
pub(super) const STATIC: [(&str, &str); 30] = [
    ("Select_priv", "SELECT"),
    ("Insert_priv", "INSERT"),
    ("Update_priv", "UPDATE"),
    ("Delete_priv", "DELETE"),
    ("Create_priv", "CREATE"),
    ("Drop_priv", "DROP"),
    ("Reload_priv", "RELOAD"),
    ("Shutdown_priv", "SHUTDOWN"),
    ("Process_priv", "PROCESS"),
    ("File_priv", "FILE"),
    ("References_priv", "REFERENCES"),
    ("Index_priv", "INDEX"),
    ("Alter_priv", "ALTER"),
    ("Show_db_priv", "SHOW DATABASES"),
    ("Super_priv", "SUPER"),
    ("Create_tmp_table_priv", "CREATE TEMPORARY TABLES"),
    ("Lock_tables_priv", "LOCK TABLES"),
    ("Execute_priv", "EXECUTE"),
    ("Repl_slave_priv", "REPLICATION SLAVE"),
    ("Repl_client_priv", "REPLICATION CLIENT"),
    ("Create_view_priv", "CREATE VIEW"),
    ("Show_view_priv", "SHOW VIEW"),
    ("Create_routine_priv", "CREATE ROUTINE"),
    ("Alter_routine_priv", "ALTER ROUTINE"),
    ("Create_user_priv", "CREATE USER"),
    ("Event_priv", "EVENT"),
    ("Trigger_priv", "TRIGGER"),
    ("Create_tablespace_priv", "CREATE TABLESPACE"),
    ("Create_role_priv", "CREATE ROLE"),
    ("Drop_role_priv", "DROP ROLE"),
];

/// The columns of `mysql.db` among those of static privileges.
pub(super) const OF_DATABASE: [&str; 18] = [
    "Select_priv",
    "Insert_priv",
    "Update_priv",
    "Delete_priv",
    "Create_priv",
    "Drop_priv",
    "References_priv",
    "Index_priv",
    "Alter_priv",
    "Create_tmp_table_priv",
    "Lock_tables_priv",
    "Execute_priv",
    "Create_view_priv",
    "Show_view_priv",
    "Create_routine_priv",
    "Alter_routine_priv",
    "Event_priv",
    "Trigger_priv",
];

/// The number of privileges on a table: a full set is printed as `ALL PRIVILEGES`.
pub(super) const OF_TABLE: usize = 12;

/// A set of static privileges by name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Privileges {
    names: Vec<&'static str>,
    /// Whether the privileges can be granted to others.
    pub grant_option: bool,
}

impl Privileges {
    /// An empty set, with or without the grant option.
    pub fn none(grant_option: bool) -> Privileges {
        Privileges { names: Vec::new(), grant_option }
    }

    /// The privileges whose columns are `Y`, and the grant option.
    pub fn of_columns(
        is_yes: impl Fn(&'static str) -> innoscan_format::Result<bool>,
    ) -> innoscan_format::Result<Privileges> {
        let mut privileges = Privileges { names: Vec::new(), grant_option: is_yes("Grant_priv")? };
        for (column, name) in STATIC {
            if is_yes(column)? {
                privileges.names.push(name);
            }
        }
        Ok(privileges)
    }

    /// The privileges of a `SET` such as `Select,Create View,Grant`; `None` when one is unknown.
    pub fn of_names<'n>(set: impl IntoIterator<Item = &'n str>) -> Option<Privileges> {
        let mut privileges = Privileges::default();
        for name in set.into_iter().filter(|name| !name.is_empty()) {
            if name.eq_ignore_ascii_case("Grant") {
                privileges.grant_option = true;
                continue;
            }
            let known = STATIC.iter().find(|known| known.1.eq_ignore_ascii_case(name));
            privileges.add(known?.1);
        }
        Some(privileges)
    }

    fn add(&mut self, name: &'static str) {
        if !self.has(name) {
            self.names.push(name);
        }
    }

    /// Adds the privileges of another set.
    pub fn extend(&mut self, other: &Privileges) {
        for name in &other.names {
            self.add(name);
        }
        self.grant_option |= other.grant_option;
    }

    /// Whether the set contains a privilege.
    pub fn has(&self, name: &str) -> bool {
        self.names.contains(&name)
    }

    /// The number of privileges, without the grant option.
    pub fn count(&self) -> usize {
        self.names.len()
    }

    /// Whether the set is empty, without even the grant option.
    pub fn is_empty(&self) -> bool {
        self.names.is_empty() && !self.grant_option
    }

    /// The names in the server's order.
    pub fn ordered(&self) -> impl Iterator<Item = &'static str> {
        STATIC.iter().map(|known| known.1).filter(|name| self.has(name))
    }

    /// The list in a statement: `USAGE` for an empty set, `ALL PRIVILEGES` for a full one of `all`.
    pub fn listed(&self, all: Option<usize>) -> String {
        match self.count() {
            0 => "USAGE".to_owned(),
            count if Some(count) == all => "ALL PRIVILEGES".to_owned(),
            _ => self.ordered().collect::<Vec<_>>().join(", "),
        }
    }
}

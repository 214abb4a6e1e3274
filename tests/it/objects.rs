//! What no file of InnoDB holds, dumped from one server and loaded into another: accounts, roles and
//! grants; packages.

use std::collections::BTreeMap;
use std::path::Path;

use innoscan_testkit::server::{Server, install};

use crate::cut_short::ended;
use crate::layouts::{MYDUMPER, load_by_client};
use crate::live::QUICK;
use crate::parity::command;
use crate::shell_loader;

const EVERYWHERE: &str = "CREATE DATABASE d; CREATE TABLE d.t (a INT, b INT) ENGINE=InnoDB;
    CREATE PROCEDURE d.p () SELECT 1;
    CREATE ROLE reader, `wri``ter`;
    CREATE USER `o'hara`@localhost, `al ice`@`10.%`, nobody@`%`, locked@localhost;
    GRANT SELECT ON d.* TO reader;
    GRANT INSERT, UPDATE (a) ON d.t TO `wri``ter`; GRANT reader TO `wri``ter`;
    GRANT `wri``ter` TO `o'hara`@localhost WITH ADMIN OPTION; GRANT reader TO `al ice`@`10.%`;
    GRANT EXECUTE ON PROCEDURE d.p TO `al ice`@`10.%` WITH GRANT OPTION;
    GRANT RELOAD, PROCESS ON *.* TO `al ice`@`10.%`;
    ALTER USER nobody@`%` REQUIRE SSL WITH MAX_QUERIES_PER_HOUR 10;
    ALTER USER locked@localhost ACCOUNT LOCK;\n";

const MARIADB: &str = "ALTER USER `o'hara`@localhost IDENTIFIED VIA mysql_native_password
      USING PASSWORD('a''b') OR unix_socket;
    SET DEFAULT ROLE reader FOR `al ice`@`10.%`; GRANT SELECT ON d.t TO PUBLIC;
    SET sql_mode = ORACLE; USE d;
    DELIMITER //
    CREATE PACKAGE tools AS FUNCTION twice(x INT) RETURN INT; PROCEDURE say; END//
    CREATE PACKAGE BODY tools AS
      FUNCTION twice(x INT) RETURN INT AS BEGIN RETURN 2 * x; END;
      PROCEDURE say AS BEGIN SELECT 'a;b' FROM DUAL; END;
    END//
    DELIMITER ;\n";

const MYSQL: &str = "ALTER USER `o'hara`@localhost IDENTIFIED BY 'a''b\\\\c';
    ALTER USER `al ice`@`10.%` IDENTIFIED BY 'x'; SET DEFAULT ROLE reader TO `al ice`@`10.%`;
    ALTER USER nobody@`%` COMMENT 'a DEFAULT ROLE b REQUIRE c';\n";

/// All that a server says of its accounts and packages.
fn facts(server: &Server, is_mariadb: bool) -> BTreeMap<String, String> {
    let ask = |sql: String| String::from_utf8_lossy(&server.sql(sql).unwrap()).into_owned();
    let mut facts = BTreeMap::new();
    let names = "SELECT CONCAT(QUOTE(user), '@', QUOTE(host)) FROM mysql.user WHERE host <> '' \
                 AND user NOT LIKE 'm%.%' AND user <> 'root';";
    let hex = if is_mariadb { "" } else { "SET print_identified_with_as_hex = ON; " };
    for account in ask(names.to_owned()).lines() {
        for show in ["SHOW CREATE USER", "SHOW GRANTS FOR"] {
            facts.insert(format!("{show} {account}"), ask(format!("{hex}{show} {account};")));
        }
    }
    if is_mariadb {
        for role in ["reader", "`wri``ter`", "PUBLIC"] {
            facts.insert(role.to_owned(), ask(format!("SHOW GRANTS FOR {role};")));
        }
        for part in ["PACKAGE", "PACKAGE BODY"] {
            let shown = ask(format!("SHOW CREATE {part} d.tools; SELECT d.tools.twice(21);"));
            facts.insert(part.to_owned(), shown);
        }
    }
    facts
}

fn dumped(server: &Server, layout: &str, out: &Path) {
    let mut dump = command();
    let socket = server.socket().to_str().unwrap();
    dump.args(["dump", "--no-defaults", "-u", "root", "-S", socket, "-A", "--users", "--quiet"])
        .args(["-c", "none", "--layout", layout, "-o", out.to_str().unwrap()]);
    let (code, said) = ended(&mut dump);
    assert_eq!(code, Some(0), "{said}");
}

fn round_trip(version: &str) {
    install(version).unwrap();
    let is_mariadb = version.starts_with("mariadb");
    let server = Server::start(version, &QUICK).unwrap();
    let own = if is_mariadb { MARIADB } else { MYSQL };
    server.sql(EVERYWHERE.to_owned() + own).unwrap();
    let expected = facts(&server, is_mariadb);
    assert!(expected.len() >= 8, "{expected:?}");
    for layout in ["mydumper", "files", "mysqlsh"] {
        if layout == "mysqlsh" && is_mariadb {
            // The shell knows neither roles without hosts nor packages.
            continue;
        }
        let dir = tempfile::tempdir().unwrap();
        dumped(&server, layout, dir.path());
        let target = Server::start(version, &QUICK).unwrap();
        let load = |name: &str| {
            target.sql(std::fs::read(dir.path().join(name)).unwrap()).unwrap();
        };
        match layout {
            "mydumper" => {
                load_by_client(&target, dir.path(), &MYDUMPER);
                load("innoscan.users");
            }
            "files" => {
                for name in ["d-schema-create.sql", "d.t-schema.sql", "d-objects.sql"] {
                    let text = std::fs::read_to_string(dir.path().join(name)).unwrap();
                    let within = if name == "d-schema-create.sql" { "" } else { "USE d;\n" };
                    target.sql(format!("{within}{text}")).unwrap();
                }
                load("users.sql");
            }
            _ => {
                shell_loader::load(dir.path(), &target).unwrap();
                load("@.users.sql");
            }
        }
        let loaded = facts(&target, is_mariadb);
        for (what, was) in &expected {
            // A line of a body that ends in `;` would end the statement for myloader.
            let loaded = loaded.get(what).map(|text| match layout {
                "mydumper" => text.replace("; \n", ";\n"),
                _ => text.clone(),
            });
            assert_eq!(loaded.as_ref(), Some(was), "{version}, {layout}: {what}");
        }
        assert_eq!(loaded.len(), expected.len(), "{version}, {layout}");
    }
}

#[test]
fn accounts_and_packages_of_debians_mariadb_are_loaded_as_they_were() {
    round_trip("mariadb-10.11");
}

#[test]
#[ignore = "installs and starts more servers: make test-all"]
fn accounts_of_other_servers_are_loaded_as_they_were() {
    for version in ["mysql-8.0.33", "mysql-9.7", "mariadb-11.8"] {
        round_trip(version);
    }
}

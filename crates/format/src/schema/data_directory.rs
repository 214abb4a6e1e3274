//! `DATA DIRECTORY`: a table's file outside of the data directory is `DIRECTORY/DATABASE/TABLE.ibd`
//! (`Fil_path::make`, `fil0fil.cc`, MySQL 8.0).

/// Returns the directory of a table's file as `SHOW CREATE TABLE` prints it; `None` for a file in the data directory.
pub fn data_directory(file: &str) -> Option<String> {
    let (directory, _) = file.rsplit_once('/').filter(|_| file.starts_with('/'))?;
    let (directory, _) = directory.rsplit_once('/')?;
    Some(format!("{directory}/"))
}

/// Returns the option of a definition for a directory.
pub fn data_directory_option(directory: &str) -> (String, String) {
    ("DATA DIRECTORY".to_owned(), format!("'{}'", directory.replace('\'', "''")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_database_and_the_file_are_cut_off() {
        assert_eq!(data_directory("/x/y/db/t.ibd").as_deref(), Some("/x/y/"));
        assert_eq!(data_directory("./db/t.ibd"), None);
        assert_eq!(data_directory("/t.ibd"), None);
        let option = ("DATA DIRECTORY".to_owned(), "'/a''b/'".to_owned());
        assert_eq!(data_directory_option("/a'b/"), option);
    }
}

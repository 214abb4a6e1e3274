//! A validator of the part of JSON Schema that `docs/innoscan.schema.json` uses. Stricter than the
//! standard in one thing: a field that the schema does not describe is an error.

use serde_json::Value;

/// What of a value contradicts the schema, each with its place.
pub fn faults(schema: &Value, value: &Value) -> Vec<String> {
    let mut faults = Vec::new();
    check(schema, schema, value, "$", &mut faults);
    faults
}

fn check(root: &Value, schema: &Value, value: &Value, at: &str, faults: &mut Vec<String>) {
    let known = ["$schema", "title", "description", "$defs", "$ref", "type", "enum", "const"];
    let known = [&known[..], &["anyOf", "required", "properties", "items", "minimum"]].concat();
    for word in schema.as_object().unwrap().keys() {
        assert!(known.contains(&&**word), "the validator does not know `{word}`");
    }
    if let Some(reference) = schema["$ref"].as_str() {
        let name = reference.strip_prefix("#/$defs/").unwrap();
        return check(root, &root["$defs"][name], value, at, faults);
    }
    if let Some(ways) = schema["anyOf"].as_array() {
        let fits = |way: &Value| {
            let mut faults = Vec::new();
            check(root, way, value, at, &mut faults);
            faults.is_empty()
        };
        if !ways.iter().any(fits) {
            faults.push(format!("{at}: fits none of anyOf: {value}"));
        }
        return;
    }
    let types = match &schema["type"] {
        Value::Array(types) => types.clone(),
        Value::Null => Vec::new(),
        one => vec![one.clone()],
    };
    if !types.is_empty() && !types.iter().any(|of_type| is_of(of_type.as_str().unwrap(), value)) {
        faults.push(format!("{at}: is not of {}: {value}", schema["type"]));
        return;
    }
    let allowed = schema["enum"].as_array();
    if allowed.is_some_and(|allowed| !allowed.contains(value)) {
        faults.push(format!("{at}: is none of {}: {value}", schema["enum"]));
    }
    if schema.get("const").is_some_and(|constant| constant != value) {
        faults.push(format!("{at}: is not {}: {value}", schema["const"]));
    }
    if let (Some(least), Some(number)) = (schema["minimum"].as_f64(), value.as_f64())
        && number < least
    {
        faults.push(format!("{at}: is below {least}: {value}"));
    }
    if let Some(object) = value.as_object() {
        for name in schema["required"].as_array().into_iter().flatten() {
            if !object.contains_key(name.as_str().unwrap()) {
                faults.push(format!("{at}: {name} is missing"));
            }
        }
        for (name, field) in object {
            match schema["properties"].get(name) {
                Some(schema) => check(root, schema, field, &format!("{at}.{name}"), faults),
                None => faults.push(format!("{at}.{name}: the schema does not describe it")),
            }
        }
    }
    if let (Some(items), Some(array)) = (schema.get("items"), value.as_array()) {
        for (nth, item) in array.iter().enumerate() {
            check(root, items, item, &format!("{at}[{nth}]"), faults);
        }
    }
}

fn is_of(of_type: &str, value: &Value) -> bool {
    match of_type {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_u64() || value.is_i64(),
        "number" => value.is_number(),
        "null" => value.is_null(),
        other => panic!("the validator does not know the type `{other}`"),
    }
}

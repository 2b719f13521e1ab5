//! The OpenAPI document. It is part of the program as text. A test checks that the text agrees with
//! the list of routes and the types of the API.

/// The OpenAPI document as JSON.
pub(crate) const DOCUMENT: &str = include_str!("openapi.json");

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may fail loudly")]
    use super::super::lists::{API, TOOL};
    use super::super::route::{Permission, Route};
    use super::super::routes::ROUTES;
    use super::*;
    use assay_farm::builds::wire::Refusal;
    use schemars::SchemaGenerator;
    use schemars::generate::SchemaSettings;
    use serde_json::{Map, Value, json};

    /// Generates the document from the routes and types.
    fn document() -> Value {
        let settings = SchemaSettings::draft2020_12()
            .with(|settings| settings.definitions_path = "/components/schemas".into());
        let mut generator = settings.into_generator();
        let refusal =
            serde_json::to_value(generator.subschema_for::<Refusal>()).unwrap_or_default();
        let mut paths: Map<String, Value> = Map::new();
        for route in ROUTES {
            let operation = operation(route, &mut generator, &refusal);
            let path = paths.entry(route.path).or_insert_with(|| json!({}));
            path[route.method.word()] = operation;
        }
        json!({
            "openapi": "3.1.0",
            "info": {
                "title": "assay farm",
                "version": API.to_string(),
                "description": format!("{TOOL}. Errors are of type `Refusal`. To continue a list, pass the value of `next` as `after=`."),
            },
            "paths": paths,
            "components": {
                "schemas": generator.take_definitions(true),
                "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
            },
        })
    }

    fn operation(route: &Route, generator: &mut SchemaGenerator, refusal: &Value) -> Value {
        let in_path = route.path.split('/').filter_map(|part| {
            let name = part.strip_prefix('{')?.strip_suffix('}')?;
            Some(
                json!({"name": name, "in": "path", "required": true, "schema": {"type": "string"}}),
            )
        });
        let in_query = route.query.iter().map(|name| {
            let schema = match *name {
                "offset" | "limit" => "integer",
                _ => "string",
            };
            json!({"name": name, "in": "query", "schema": {"type": schema}})
        });
        let parameters: Vec<Value> = in_path.chain(in_query).collect();
        let good = match route.gives {
            Some(shape) => json!({
                "description": "The requested data",
                "content": {"application/json": {"schema": shape(generator)}},
            }),
            None => json!({"description": "The requested data"}),
        };
        let mut operation = json!({
            "summary": route.does,
            "parameters": parameters,
            "responses": {
                "2XX": good,
                "default": {
                    "description": "The error",
                    "content": {"application/json": {"schema": refusal}},
                },
            },
        });
        match route.takes {
            Some(shape) => {
                operation["requestBody"] = json!({
                    "required": true,
                    "content": {"application/json": {"schema": shape(generator)}},
                });
            }
            None if !route.query.is_empty() && route.method.word() == "put" => {
                operation["requestBody"] = json!({
                    "required": true,
                    "content": {"application/octet-stream": {}},
                });
            }
            None => {}
        }
        if route.needs != Permission::Nothing {
            operation["security"] = json!([{"token": []}]);
            operation["x-scope"] = route.needs.words().into();
        }
        operation
    }

    #[test]
    fn the_document_that_the_program_carries_is_that_of_the_routes() {
        let generated = format!("{:#}\n", document());
        if std::env::var_os("ASSAY_WRITE_DOCS").is_some() {
            let path = concat!(env!("CARGO_MANIFEST_DIR"), "/src/server/openapi.json");
            std::fs::write(path, &generated).unwrap();
            return;
        }
        assert!(generated == DOCUMENT, "ASSAY_WRITE_DOCS=1 writes it (`make docs`)");
    }

    #[test]
    fn the_document_has_each_route_and_all_types_that_it_names() {
        let document = document();
        let mut operations = 0;
        for (path, methods) in document["paths"].as_object().unwrap() {
            operations += methods.as_object().unwrap().len();
            assert!(ROUTES.iter().any(|route| route.path == path), "{path}");
        }
        for route in ROUTES {
            let operation = &document["paths"][route.path][route.method.word()];
            assert_eq!(operation["summary"], route.does, "{}", route.path);
            assert_eq!(operation["security"].is_null(), route.needs == Permission::Nothing);
        }
        assert_eq!(operations, ROUTES.len(), "two routes are the same");
        let text = document.to_string();
        for part in text.split("#/components/schemas/").skip(1) {
            let name = part.split('"').next().unwrap();
            assert!(!document["components"]["schemas"][name].is_null(), "{name}");
        }
        assert!(text.contains("\"Leased\"") && text.contains("\"Ending\""));
    }

    #[test]
    fn the_page_of_the_api_names_each_route() {
        let page = include_str!("../../../../docs/reference/farm-api.md");
        for route in ROUTES {
            let path = route.path.trim_start_matches("/api/v1");
            let last = path.rsplit('/').find(|part| !part.is_empty() && !part.starts_with('{'));
            let last = last.unwrap_or_default();
            assert!(page.contains(last), "{} of {path}", last);
        }
    }
}

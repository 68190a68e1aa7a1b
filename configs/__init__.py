"""The bundled configs: one YAML file per table or figure, and the published numbers they are compared with."""

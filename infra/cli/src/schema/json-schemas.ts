import { type FileKind, fileSchemas } from '@recordbus/admin/file-schemas';
import type { Members } from './schema-target.ts';

/** The folder with JSON Schemas in a schema directory. */
export const jsonSchemaFolder = '.json-schema';

const nameOf = (kind: FileKind): string => `${jsonSchemaFolder}/${kind}.json`;

/** Returns the JSON Schemas for schema files, by their names in the directory (schema §7.6). */
export const jsonSchemaFiles = (): ReadonlyMap<string, Members> =>
  new Map(Object.entries(fileSchemas()).map(([kind, schema]) => [nameOf(kind as FileKind), schema]));

/**
 * Returns a file with its `$schema`, which leads editors to the JSON Schema. An existing file keeps its `$schema`, or
 * stays without one.
 */
export function withJsonSchema(value: Members, kind: FileKind, written: Members | undefined): Members {
  const own = `${kind === 'settings' ? './' : '../'}${nameOf(kind)}`;
  const $schema = written ? written.$schema : own;
  return $schema === undefined ? value : { $schema, ...value };
}

/** Returns a file without its `$schema`, which the definition does not include. */
export function withoutJsonSchema({ $schema, ...value }: Members): Members {
  return typeof $schema === 'string' ? value : { ...($schema !== undefined && { $schema }), ...value };
}

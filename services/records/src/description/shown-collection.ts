import type { JsonSchema, RouteManifest } from '@recordbus/http';
import type { Collection, RuleName } from '@recordbus/schema';

/** The operations on a collection's records. */
export type RecordOperation = RuleName | 'aggregate' | 'export' | 'history' | 'put' | 'restore' | 'upsert';

/** The record routes, by operation. */
export type RecordRoutes = Readonly<Record<RecordOperation, RouteManifest>>;

/** The parts of a collection that the caller may read and write. */
export interface ShownCollection {
  readonly read: Collection;
  readonly written: Collection;
  readonly operations: readonly RecordOperation[];
  /** Whether the caller must set a new account's password. */
  readonly needsPassword: boolean;
}

/** Component names. The API's own have no dot. */
export const componentsOf = ({ name }: Collection) => ({
  record: `${name}.record`,
  create: `${name}.create`,
  update: `${name}.update`,
  page: `${name}.page`,
  cursorPage: `${name}.cursorPage`,
});

/** The schema that refers to a component. */
export const referTo = (schema: string): JsonSchema => ({ $ref: `#/components/schemas/${schema}` });

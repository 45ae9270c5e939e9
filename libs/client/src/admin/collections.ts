import type { CallOptions, Transport } from '../transport.ts';
import { apiPath } from '../url.ts';
import type {
  CollectionDefinition,
  CollectionValues,
  FieldDefinition,
  IndexDefinition,
  RuleTrial,
  RuleVerdict,
  SchemaFiles,
  SchemaPlan,
  SchemaSnapshot,
  ViewPreview,
} from './collection-types.ts';
import type { Requests } from './requests.ts';

/** A change that may expect a version. */
export interface VersionOptions extends CallOptions {
  /**
   * The `etag` of the definition that was read. If it has changed, the call throws an error for which `isConflict` is
   * true.
   */
  readonly ifMatch?: string | undefined;
}

/** The answer to a schema change, where `fields` is JSON text. */
interface Answer {
  readonly data: Omit<CollectionDefinition, 'fields'> & { readonly fields: string };
  readonly warnings?: readonly string[];
}

const readable = ({ data, warnings }: Answer): CollectionDefinition => ({
  ...data,
  fields: JSON.parse(data.fields),
  ...(warnings && { warnings }),
});

/** Defining collections (collections §4 to §8, §10, §11). */
export function createCollections(transport: Transport, { get, create, post, patch, remove }: Requests) {
  const change = async (
    method: 'POST' | 'PATCH',
    segments: readonly string[],
    values: CollectionValues,
    { ifMatch, ...options }: VersionOptions = {},
  ): Promise<CollectionDefinition> => {
    const headers = { 'If-Match': ifMatch };
    const path = apiPath('collections', ...segments);
    const call = { method, path, values, headers, key: method === 'POST', ...options };
    return readable((await transport.send(call)).json as Answer);
  };
  return {
    list: async (options?: CallOptions): Promise<readonly CollectionDefinition[]> =>
      (await get<Answer['data'][]>(['collections'], options)).map((data) => readable({ data })),
    get: async (name: string, options?: CallOptions): Promise<CollectionDefinition> =>
      readable({ data: await get<Answer['data']>(['collections', name], options) }),
    create: (values: CollectionValues, options?: CallOptions) => change('POST', [], values, options),
    update: (name: string, changes: CollectionValues, options?: VersionOptions) =>
      change('PATCH', [name], changes, options),
    /** Drops a collection with all its records. */
    async delete(name: string, { ifMatch, ...options }: VersionOptions = {}): Promise<void> {
      const headers = { 'If-Match': ifMatch };
      await transport.send({ method: 'DELETE', path: apiPath('collections', name), headers, ...options });
    },
    /** Says how a user's or guest's request would be answered if the collection had this rule. Writes nothing. */
    tryRule: (name: string, trial: RuleTrial, options?: CallOptions) =>
      post<RuleVerdict>(['admin', 'collections', name, 'try-rule'], trial, options),
    /** Gets the fields and the first rows that a view with this query would have. */
    previewView: (query: string, options?: CallOptions) =>
      post<ViewPreview>(['admin', 'views', 'preview'], { view_query: query }, options),
    fields: {
      add: (collection: string, field: FieldDefinition, options?: CallOptions) =>
        create<FieldDefinition>(['collections', collection, 'fields'], field, options),
      update: (collection: string, field: string, changes: Partial<FieldDefinition>, options?: CallOptions) =>
        patch<FieldDefinition>(['collections', collection, 'fields', field], changes, options),
      /** Drops a field with its values. */
      delete: (collection: string, field: string, options?: CallOptions) =>
        remove(['collections', collection, 'fields', field], options),
    },
    indexes: {
      list: (collection: string, options?: CallOptions) =>
        get<readonly IndexDefinition[]>(['admin', 'collections', collection, 'indexes'], options),
      create: (collection: string, index: IndexDefinition, options?: CallOptions) =>
        create<IndexDefinition>(['admin', 'collections', collection, 'indexes'], index, options),
      /** Changes a search index, which is then built again. */
      update: (collection: string, index: string, changes: Partial<IndexDefinition>, options?: CallOptions) =>
        patch<IndexDefinition>(['admin', 'collections', collection, 'indexes', index], changes, options),
      delete: (collection: string, index: string, options?: CallOptions) =>
        remove(['admin', 'collections', collection, 'indexes', index], options),
    },
    /** All collection definitions in one document. */
    snapshot: (options?: CallOptions) => get<SchemaSnapshot>(['admin', 'migrations', 'snapshot'], options),
    /** Creates a snapshot's missing collections; with the mode `sync`, also changes existing ones. */
    apply: (snapshot: SchemaSnapshot, mode: 'additive' | 'sync' = 'additive', options?: CallOptions) =>
      create<{ readonly created: string[]; readonly updated: string[]; readonly unchanged: string[] }>(
        ['admin', 'migrations', 'apply'],
        { snapshot, mode },
        options,
      ),
    /** Reads, plans and applies the schema as files (schema §5). */
    schema: {
      get: (options?: CallOptions) => get<SchemaFiles>(['admin', 'schema'], options),
      /** Returns the changes that applying the files would make; changes nothing. */
      plan: (
        request: { readonly schema: SchemaFiles; readonly variables?: Readonly<Record<string, string>> },
        options?: CallOptions,
      ) => post<SchemaPlan>(['admin', 'schema', 'plan'], request, options),
      /** Applies the files, unless the schema has changed since the plan with this hash. */
      apply: (
        request: {
          readonly schema: SchemaFiles;
          readonly hash: string;
          readonly variables?: Readonly<Record<string, string>>;
          readonly allow_drop?: readonly string[];
        },
        options?: CallOptions,
      ) => post<Readonly<Record<string, unknown>>>(['admin', 'schema', 'apply'], request, options),
    },
    /** TypeScript types for all collections, for `createClient<Schema>`. */
    types: async (options?: CallOptions): Promise<string> =>
      (await transport.open({ method: 'GET', path: apiPath('admin', 'schema', 'types'), ...options })).text(),
    /** JSON Schemas for the messages on the bus. */
    eventSchema: (options?: CallOptions) =>
      get<Readonly<Record<string, unknown>>>(['admin', 'events', 'schema'], options),
  };
}

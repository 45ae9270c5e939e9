import type { Client } from './client.ts';
import { Failure } from './failure.ts';

interface FieldDefinition {
  readonly name: string;
  readonly type: string;
  readonly required?: boolean;
  readonly collection?: string;
  readonly options?: Readonly<Record<string, unknown>>;
}

const code: FieldDefinition = { name: 'code', type: 'text', required: true, options: { max: 8, unique: true } };
const name: FieldDefinition = { name: 'name', type: 'text', required: true, options: { max: 120 } };

const relation = (field: string, collection: string, options: object = {}): FieldDefinition => ({
  name: field,
  type: 'relation',
  collection,
  options: { ...options },
});

/** Ordered so that every relation follows its target. */
const definitions: Readonly<Record<string, readonly FieldDefinition[]>> = {
  regions: [code, name],
  subregions: [{ ...code, options: { max: 40, unique: true } }, name, relation('region', 'regions')],
  currencies: [code, name, { name: 'symbol', type: 'text' }],
  languages: [code, name],
  countries: [
    code,
    name,
    { name: 'official_name', type: 'text' },
    { name: 'status', type: 'select', options: { values: ['officially-assigned', 'user-assigned'] } },
    { name: 'independent', type: 'bool' },
    { name: 'un_member', type: 'bool' },
    { name: 'capital', type: 'text' },
    { name: 'area_km2', type: 'number', options: { min: 0 } },
    { name: 'location', type: 'json' },
    { name: 'translations', type: 'json' },
    { name: 'flag', type: 'text' },
    relation('region', 'regions', { cascade: 'restrict' }),
    relation('subregion', 'subregions'),
    relation('currency', 'currencies'),
    { name: 'visits', type: 'number' },
    { name: 'visited_at', type: 'date' },
  ],
  // A relation holds one id; a country with several languages has several records here.
  country_languages: [
    { ...code, options: { max: 12, unique: true } },
    relation('country', 'countries', { cascade: 'cascade' }),
    relation('language', 'languages'),
  ],
};

/** Anyone may read, only admins write. */
const rules = { list_rule: null, view_rule: null, create_rule: '', update_rule: '', delete_rule: '' };

interface EnsuredCollections {
  readonly created: readonly string[];
  readonly reused: readonly string[];
}

/**
 * Creates the missing collections. Existing ones are reused with their records. Throws Failure that names a collection
 * with other fields, which it does not change.
 */
export async function ensureCollections(admin: Client): Promise<EnsuredCollections> {
  const existing = await admin.call<{ name: string; fields: unknown }[]>('GET', '/api/v1/collections');
  const created: string[] = [];
  const reused: string[] = [];
  for (const [collection, fields] of Object.entries(definitions)) {
    const found = existing.find((other) => other.name.toLowerCase() === collection);
    if (found) {
      const present = new Set(readFieldNames(found.fields));
      if (found.name !== collection || fields.some((field) => !present.has(field.name)))
        throw new Failure(
          `The stack has a collection ${found.name} with other fields than the demo's. It was not changed.`,
        );
      reused.push(collection);
    } else {
      await admin.call('POST', '/api/v1/collections', { name: collection, type: 'base', fields, ...rules });
      created.push(collection);
    }
  }
  return { created, reused };
}

/** Returns field names. The API returns the list as JSON text. */
function readFieldNames(fields: unknown): string[] {
  const list: unknown = typeof fields === 'string' ? JSON.parse(fields) : fields;
  return (list as { name: string }[]).map((field) => field.name);
}

import {
  createDirectory,
  type Directory,
  type PocketBaseCollection,
  type PocketBaseField,
} from '@recordbus/pocketbase/rules';
import type { Collection, Field } from '@recordbus/schema';

/** PocketBase's id for the admins' collection. */
export const superusersId = 'pbc_3142635823';

/** Our collections, as PocketBase's clients know them. */
export interface Catalog {
  /** Finds a collection by its name, in any case, or by its id in PocketBase. */
  find(nameOrId: string): Collection | undefined;
  /** The id by which clients know a collection. */
  idOf(collection: Collection): string;
  /** The definition in PocketBase's form. */
  definitionOf(collection: Collection): PocketBaseCollection;
  readonly directory: Directory;
  readonly all: readonly Collection[];
}

/** Makes the catalog for one version of the collections. */
export function createCatalog(all: readonly Collection[]): Catalog {
  const idOf = ({ alias, id }: Collection): string => alias ?? id;
  const byName = new Map(all.map((collection) => [collection.name, collection]));
  const byLowerName = new Map(all.map((collection) => [collection.name.toLowerCase(), collection]));
  const byId = new Map(all.flatMap((collection) => [collection.id, idOf(collection)].map((id) => [id, collection])));
  const definitions = new Map(
    all.map((collection) => [
      collection.id,
      {
        id: idOf(collection),
        name: collection.name,
        type: collection.type,
        fields: fieldsOf(collection, (name) => {
          const target = byName.get(name);
          return target ? idOf(target) : name;
        }),
      },
    ]),
  );
  const directory = createDirectory([...definitions.values()]);
  return {
    find: (nameOrId) => byName.get(nameOrId) ?? byId.get(nameOrId) ?? byLowerName.get(nameOrId.toLowerCase()),
    idOf,
    definitionOf(collection) {
      const definition = definitions.get(collection.id);
      if (!definition) throw new Error(`the collection ${collection.name} is not in its own catalog`);
      return definition;
    },
    directory,
    all,
  };
}

/** Members that every record has, and no definition here lists. */
function fieldsOf(collection: Collection, idOfTarget: (name: string) => string): PocketBaseField[] {
  const times = (['created', 'updated'] as const).filter((name) => !collection.lacking?.includes(`${name}_at`));
  return [
    { name: 'id', type: 'text', required: true },
    ...collection.fields.map((field) => {
      const known = fieldOf(field, idOfTarget);
      // PocketBase's clients see a made-up address as an empty one.
      return field.system && field.name === 'email' ? { ...known, required: false } : known;
    }),
    ...times.map((name) => ({ name, type: 'autodate' })),
  ];
}

/** A list without `max` has room for this many entries in PocketBase's own pages. */
const anyNumber = 999;

function fieldOf(field: Field, idOfTarget: (name: string) => string): PocketBaseField {
  const { name, type, required, options } = field;
  const isList = ['select', 'relation', 'file'].includes(type);
  return {
    name,
    type: type === 'vector' ? 'json' : type,
    required,
    hidden: field.viewRule === '',
    ...(isList && { maxSelect: isSeveral(field) ? Number(options.max) || anyNumber : 1 }),
    ...(field.collection !== undefined && { collectionId: idOfTarget(field.collection) }),
    ...(Array.isArray(options.values) && { values: options.values.map(String) }),
  };
}

/** Whether the field has a list. */
export const isSeveral = ({ options }: Field): boolean => options.multiple === true;

/** Finds a field by its name. */
export const fieldNamed = ({ fields }: Collection, name: string): Field | undefined =>
  fields.find((field) => field.name === name);

import type { JsonSchema } from '@recordbus/http';
import { plainSchema, referTo } from './plain-schema.ts';
import { mapSchemas } from './walk-schema.ts';

/** Collects a document's named schemas. */
export interface Components {
  /** Adds a schema under a name. Another schema's name that is already there is not used up: it gets a number. */
  add(name: string, schema: JsonSchema): JsonSchema;
  /** Returns a schema for generators, and adds the definitions within it. */
  plain(schema: JsonSchema): JsonSchema;
  readonly schemas: Readonly<Record<string, JsonSchema>>;
}

/** Creates a document's components from the schemas that its routes refer to. */
export function createComponents(known: Readonly<Record<string, JsonSchema>>): Components {
  const schemas = new Map<string, JsonSchema>();
  const texts = new Map<string, string>();

  function add(given: string, whole: JsonSchema): JsonSchema {
    const name = given.replace(/[^A-Za-z0-9._-]/g, '_');
    const schema = withNamedBranches(name, whole, add);
    const text = JSON.stringify(schema);
    let free = name;
    for (let count = 2; texts.has(free) && texts.get(free) !== text; count += 1) free = `${name}${count}`;
    texts.set(free, text);
    schemas.set(free, schema);
    return referTo(free);
  }

  function plain(schema: JsonSchema): JsonSchema {
    const defined = definitionsIn(schema);
    const expanding = new Set<string>();
    // A definition that refers to itself stays a reference within itself, and an unknown one may be anything.
    const definitionOf = (reference: string): JsonSchema => {
      const name = reference.replace(/^#\/(\$defs|components\/schemas)\//, '');
      const found = defined.get(name) ?? schemas.get(name) ?? known[name];
      if (!found || expanding.has(name)) return {};
      expanding.add(name);
      const definition = plainSchema(found, definitionOf);
      expanding.delete(name);
      return definition;
    };
    const names = new Map<string, string>();
    for (const [name, definition] of defined) {
      const reference = add(name, plainSchema(definition, definitionOf));
      names.set(`#/components/schemas/${name}`, String(reference.$ref));
    }
    return renamed(plainSchema(schema, definitionOf), names);
  }

  for (const [name, schema] of Object.entries(known)) add(name, plain(schema));
  return {
    add,
    plain,
    get schemas() {
      return Object.fromEntries(schemas);
    },
  };
}

/** Returns the schema for a body or an answer as a reference: to a new component, unless it is one already. */
export function named({ add, plain }: Components, name: string, schema: JsonSchema): JsonSchema {
  const made = plain(schema);
  return typeof made.$ref === 'string' || (made.type === undefined && made.oneOf === undefined)
    ? made
    : add(name, made);
}

type Add = Components['add'];

/**
 * Returns the schema with references in place of a choice's branches that are objects or lists. Generators make a type
 * for each, and some choose the same name for two.
 */
function withNamedBranches(name: string, schema: JsonSchema, add: Add): JsonSchema {
  const { oneOf, properties, items } = schema;
  if (Array.isArray(oneOf))
    return { ...schema, oneOf: (oneOf as JsonSchema[]).map((branch) => namedBranch(name, branch, add)) };
  const members = Object.entries((properties ?? {}) as Readonly<Record<string, JsonSchema>>).map(([member, inner]) => [
    member,
    withNamedBranches(`${name}${capital(member)}`, inner, add),
  ]);
  return {
    ...schema,
    ...(properties !== undefined && { properties: Object.fromEntries(members) }),
    ...(items !== undefined && { items: withNamedBranches(`${name}Item`, items as JsonSchema, add) }),
  };
}

const suffixes: Readonly<Record<string, string>> = { object: 'Object', array: 'List' };

function namedBranch(name: string, branch: JsonSchema, add: Add): JsonSchema {
  const suffix = suffixes[String([branch.type].flat()[0])];
  return branch.$ref !== undefined || suffix === undefined ? branch : add(`${name}${suffix}`, branch);
}

/** A member's name inside a longer name. */
const capital = (text: string): string =>
  text.replace(/[^A-Za-z0-9]+/g, '').replace(/^./, (first) => first.toUpperCase());

/** A schema's definitions and those below it, by name. */
function definitionsIn(schema: JsonSchema): Map<string, JsonSchema> {
  const found = new Map<string, JsonSchema>();
  const collect = (inner: JsonSchema): JsonSchema => {
    for (const [name, definition] of Object.entries((inner.$defs ?? {}) as Readonly<Record<string, JsonSchema>>))
      found.set(name, definition);
    return mapSchemas(inner, collect);
  };
  collect(schema);
  return found;
}

/** The schema with other names in its references. */
function renamed(schema: JsonSchema, names: ReadonlyMap<string, string>): JsonSchema {
  const { $ref } = schema;
  if (typeof $ref === 'string') return { ...schema, $ref: names.get($ref) ?? $ref };
  return mapSchemas(schema, (inner) => renamed(inner, names));
}

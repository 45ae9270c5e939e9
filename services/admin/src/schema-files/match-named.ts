/** A collection or field that the stack has. */
interface Named {
  readonly id: string;
  readonly name: string;
  readonly type: string;
}

/** A definition in the files. Its members may not be checked yet. */
interface NamedDefinition {
  readonly id?: unknown;
  readonly name?: unknown;
  readonly type?: unknown;
  readonly renamedFrom?: unknown;
}

/**
 * Finds what each definition describes: by its id, then by its name, then by its former name (schema §3.2). A
 * definition with an unknown id does not match another type's name. Calls `refuse` for a former name that is ambiguous.
 * Answers in definition order.
 */
export function matchNamed<D extends NamedDefinition, T extends Named>(
  definitions: readonly D[],
  existing: readonly T[],
  refuse: (definition: D, message: string) => void,
): (T | undefined)[] {
  const byId = new Map<unknown, T>(existing.map((one) => [one.id, one]));
  const byName = new Map<unknown, T>(existing.map((one) => [one.name, one]));
  const namedById = new Set(definitions.map(({ id }) => id));
  const found = definitions.map(({ id, name, type }) => {
    const known = byId.get(id);
    if (known) return known;
    const same = byName.get(name);
    return same && !namedById.has(same.id) && (id === undefined || same.type === type) ? same : undefined;
  });
  const described = new Set(found);
  return definitions.map((definition, position) => {
    const now = found[position];
    const former = byName.get(definition.renamedFrom);
    if (!former || former === now) return now;
    if (now) refuse(definition, `cannot be ${former.name}: the stack has both ${former.name} and ${now.name}`);
    else if (described.has(former)) refuse(definition, `cannot be ${former.name}, which another definition describes`);
    else {
      described.add(former);
      return former;
    }
    return now;
  });
}

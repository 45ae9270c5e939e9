import { isMembers, type Members } from './schema-target.ts';

/**
 * Returns a pulled collection with the former names (`renamedFrom`) in its file, which other stacks may still need. A
 * name that the stack has again is left out: a plan would refuse it.
 */
export function keepFormerNames(
  value: Members,
  written: Members | undefined,
  collections: readonly Members[],
): Members {
  const fields = membersIn(value.fields);
  const writtenFields = membersIn(written?.fields);
  return withFormerName(
    {
      ...value,
      ...(fields.length > 0 && {
        fields: fields.map((field) =>
          withFormerName(
            field,
            writtenFields.find(({ id, name }) => (id === undefined ? name === field.name : id === field.id)),
            fields,
          ),
        ),
      }),
    },
    written,
    collections,
  );
}

/** Returns a definition of a file without the former names, which the stack does not keep. */
export function withoutFormerNames({ renamedFrom: _, ...value }: Members): Members {
  const fields = membersIn(value.fields).map(({ renamedFrom: _, ...field }) => field);
  return fields.length > 0 ? { ...value, fields } : value;
}

function withFormerName(value: Members, written: Members | undefined, others: readonly Members[]): Members {
  const renamedFrom = written?.renamedFrom;
  if (typeof renamedFrom !== 'string' || others.some(({ name }) => name === renamedFrom)) return value;
  const { id, name, ...rest } = value;
  return { ...(id !== undefined && { id }), name, renamedFrom, ...rest };
}

const membersIn = (list: unknown): readonly Members[] => (Array.isArray(list) ? list.filter(isMembers) : []);

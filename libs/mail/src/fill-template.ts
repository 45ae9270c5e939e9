/** The variables of a template, by their name. */
export type Variables = Readonly<Record<string, string>>;

/**
 * Replaces each `{{name}}` by what `write` makes of its value; a name that has none becomes nothing. Values are not
 * read again, so one that looks like a variable stays as it is.
 */
export const fillTemplate = (template: string, variables: Variables, write: (value: string) => string): string =>
  template.replace(/\{\{\s*(\w+)\s*\}\}/g, (_, name: string) =>
    Object.hasOwn(variables, name) ? write(variables[name] ?? '') : '',
  );

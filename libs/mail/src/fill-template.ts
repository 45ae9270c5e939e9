/** A template's variables by name. */
export type Variables = Readonly<Record<string, string>>;

/**
 * Replaces each `{{name}}` with its value, passed through `write`; an unknown name becomes an empty text. Values are not
 * read as templates, so a value that looks like a variable stays as it is (mail §2.5).
 */
export const fillTemplate = (template: string, variables: Variables, write: (value: string) => string): string =>
  template.replace(/\{\{\s*(\w+)\s*\}\}/g, (_, name: string) =>
    Object.hasOwn(variables, name) ? write(variables[name] ?? '') : '',
  );

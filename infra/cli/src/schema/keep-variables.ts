import { isMembers, type Members } from './schema-target.ts';

/**
 * Returns the members with the variables that a file already names, if the stack has a secret there or the variable has
 * the stack's value.
 */
export function keepVariables(value: Members, written: Members | undefined): Members {
  if (!written) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => {
      const before = Object.hasOwn(written, name) ? written[name] : undefined;
      if (isVariable(before) && (isVariable(member) || process.env[before.$env] === member)) return [name, before];
      const isPlain = isMembers(member) && isMembers(before) && !isVariable(member) && !isVariable(before);
      return [name, isPlain ? keepVariables(member, before) : member];
    }),
  );
}

const isVariable = (value: unknown): value is { readonly $env: string } =>
  isMembers(value) && typeof value.$env === 'string';

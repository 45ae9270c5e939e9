type Value = string | number | boolean | null;

/**
 * Builds a filter with values as literals, so that no value is parsed as part of the expression: filter`email =
 * ${email} && age > ${18}`.
 */
export const filter = (texts: TemplateStringsArray, ...values: readonly Value[]): string =>
  texts.reduce((whole, text, index) => `${whole}${literalOf(values[index - 1] ?? null)}${text}`);

const literalOf = (value: Value): string =>
  typeof value === 'string' ? `"${value.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"` : String(value);

type Run = (property: unknown, parameters?: object | number) => void;

/** Some uses of fast-check. */
export function properties(fc: { readonly assert: Run; readonly sample: Run }, property: unknown): void {
  fc.assert(property);
  fc.assert(property, { numRuns: 5, seed: 1 });
  fc.sample(property, 5);
}

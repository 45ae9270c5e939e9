/** How long a read Accept-Encoding may be, in characters. Browsers send about 30. */
const maxHeaderLength = 1000;

/**
 * Returns the coding that the client prefers among these, best first; undefined if it prefers an answer as it is
 * (RFC 9110 §12.5.3). Without weights the first one wins.
 */
export function chooseCoding<Name extends string>(
  header: string | undefined,
  codings: readonly Name[],
): Name | undefined {
  if (header === undefined) return undefined;
  const weights = new Map<string, number>();
  for (const part of header.slice(0, maxHeaderLength).toLowerCase().split(',')) {
    const [coding = '', ...parameters] = part.split(';').map((text) => text.trim());
    const weight = parameters.find((parameter) => parameter.startsWith('q='));
    const value = weight === undefined ? 1 : Number(weight.slice(2));
    weights.set(coding === 'x-gzip' ? 'gzip' : coding, value >= 0 && value <= 1 ? value : 0);
  }
  const weightOf = (coding: string): number => weights.get(coding) ?? weights.get('*') ?? 0;
  const [best] = codings.toSorted((a, b) => weightOf(b) - weightOf(a));
  if (best === undefined || weightOf(best) === 0) return undefined;
  return weightOf(best) >= (weights.get('identity') ?? 0) ? best : undefined;
}

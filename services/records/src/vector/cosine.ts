/** A larger exponent makes the factor infinite. Up to this one, scaled components' squares are normal numbers. */
const maxExponent = 1000;

/**
 * Scales the components by the power of two that brings the largest one near 1, so no square overflows or becomes zero,
 * and nothing is rounded. A zero vector stays as it is.
 */
function scaled(vector: Float64Array): Float64Array {
  let largest = 0;
  for (const component of vector) largest = Math.max(largest, Math.abs(component));
  if (largest === 0) return vector;
  const factor = 2 ** Math.min(-Math.floor(Math.log2(largest)), maxExponent);
  return vector.map((component) => component * factor);
}

/** Cosine similarity in double precision, from -1 to 1; 0 if either is zero (vectors §2.2). */
export function cosine(a: Float64Array, b: Float64Array): number {
  const [x, y] = [scaled(a), scaled(b)];
  let dot = 0;
  let xx = 0;
  let yy = 0;
  for (let index = 0; index < x.length; index += 1) {
    const p = x[index] ?? 0;
    const q = y[index] ?? 0;
    dot += p * q;
    xx += p * p;
    yy += q * q;
  }
  return xx === 0 || yy === 0 ? 0 : Math.min(1, Math.max(-1, dot / Math.sqrt(xx * yy)));
}

/** The vector with length 1 in the same direction. A zero vector stays as it is. */
export function unit(vector: Float64Array): Float64Array {
  const components = scaled(vector);
  let square = 0;
  for (const component of components) square += component * component;
  return square === 0 ? components : components.map((component) => component / Math.sqrt(square));
}

/**
 * The scalar product of `query` and the components in `rows` from `start` on. For unit vectors, the second rounded to
 * single precision, it is their cosine to within 6e-8: half a unit in the last of 24 bits, times the sum of products,
 * which is at most 1.
 */
export function product(query: Float64Array, rows: Float32Array, start: number): number {
  let a = 0;
  let b = 0;
  let c = 0;
  let d = 0;
  const { length } = query;
  const whole = length - (length % 4);
  let index = 0;
  // Four sums, since a single one would wait for each addition. All indexes are within bounds; `as number` costs nothing.
  for (let at = start; index < whole; index += 4, at += 4) {
    a += (query[index] as number) * (rows[at] as number);
    b += (query[index + 1] as number) * (rows[at + 1] as number);
    c += (query[index + 2] as number) * (rows[at + 2] as number);
    d += (query[index + 3] as number) * (rows[at + 3] as number);
  }
  for (; index < length; index += 1) a += (query[index] as number) * (rows[start + index] as number);
  return a + b + (c + d);
}

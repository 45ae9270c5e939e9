import type { Collection } from '@recordbus/schema';
import { type Catalog, fieldNamed } from '../catalog.ts';
import { findTarget } from './to-record.ts';

const maxPaths = 50;
const maxSteps = 6;

/** How many referring records an expansion shows; PocketBase has the same limit. */
const maxReferrers = 1000;

/** Translates `expand`. What PocketBase drops silently is left out: unknown and hidden relations, steps after the sixth. */
export function toExpandPaths(catalog: Catalog, collection: Collection, text: string | null): string {
  const paths = (text ?? '').split(',', maxPaths).map((path) => toPath(catalog, collection, path.trim()));
  return [...new Set(paths)].filter((path) => path !== '').join(',');
}

function toPath(catalog: Catalog, from: Collection, path: string): string {
  const steps: string[] = [];
  let collection = from;
  for (const written of path.split('.', maxSteps)) {
    // The form before PocketBase 0.22.
    const step = written.replace(/^(\w+)\((\w+)\)$/, '$1_via_$2');
    const target = findTarget(catalog, collection, step);
    if (!target || fieldNamed(collection, step)?.viewRule === '') break;
    steps.push(fieldNamed(collection, step) ? step : `${step}(limit:${maxReferrers})`);
    collection = target;
  }
  return steps.join('.');
}

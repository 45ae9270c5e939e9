import { isDeepStrictEqual } from 'node:util';
import type { CollectionIndex } from '@recordbus/schema';

/** Whether both indexes have the same definition, and the second one needs not be built. */
export const isSameIndex = (a: CollectionIndex, b: CollectionIndex): boolean =>
  isDeepStrictEqual(definitionOf(a), definitionOf(b));

const definitionOf = ({ id: _, isBuilding: _b, ...definition }: CollectionIndex) => definition;

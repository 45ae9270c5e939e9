import { malformedParameter as refused, validationFailed } from '@recordbus/errors';
import { isHidden } from '@recordbus/query';
import type { Collection, Field } from '@recordbus/schema';
import type { CompileContext } from '../rules/compile-rule.ts';
import { viewOf } from '../rules/field-rules.ts';

/** A vector search's query parameters (vectors §1.1). */
interface NearParameters {
  readonly nearVector?: string | undefined;
  readonly nearVectorField?: string | undefined;
  readonly nearLimit: number;
  readonly nearMinScore?: number | undefined;
}

/** A vector search. */
export interface Near {
  readonly field: Field;
  readonly dimensions: number;
  readonly vector: Float64Array;
  /** How many records the answer may have. */
  readonly limit: number;
  readonly minScore: number;
}

/**
 * Reads a vector search's parameters; undefined without any. Throws 400 for a vector that is not a JSON array or a
 * field that cannot be searched, and 422 for a vector with another length or with a number that is not finite (vectors
 * §1.3).
 */
export function readNear(parameters: NearParameters, collection: Collection, caller: CompileContext): Near | undefined {
  const { nearVector, nearVectorField, nearLimit, nearMinScore = Number.NEGATIVE_INFINITY } = parameters;
  if (nearVector === undefined && nearVectorField === undefined) return undefined;
  if (nearVector === undefined) throw refused('nearVector', 'is required with nearVectorField');
  const members = parseArray(nearVector);
  if (nearVectorField === undefined) throw refused('nearVectorField', 'is required with nearVector');
  // A field that the caller never sees is treated like one that does not exist.
  const isClosed = (name: string) => viewOf(collection, caller).closed.has(name);
  const field = collection.fields.find(({ name }) => name === nearVectorField);
  const dimensions = field?.options.dimensions;
  if (field?.type !== 'vector' || typeof dimensions !== 'number' || isHidden(field) || isClosed(field.name))
    throw refused('nearVectorField', `${collection.name} has no vector ${JSON.stringify(nearVectorField)}`);
  if (members.length !== dimensions) throw validationFailed({ nearVector: `must have ${dimensions} numbers` });
  if (!members.every(Number.isFinite)) throw validationFailed({ nearVector: 'must consist of finite numbers' });
  const vector = Float64Array.from(members, Number);
  return { field, dimensions, vector, limit: nearLimit, minScore: nearMinScore };
}

function parseArray(text: string): readonly unknown[] {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    value = undefined;
  }
  if (!Array.isArray(value)) throw refused('nearVector', 'must be a JSON array of numbers');
  return value;
}

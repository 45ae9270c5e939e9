import { isSealed } from '@recordbus/query';
import type { Collection, Field } from '@recordbus/schema';
import { malformed, validationFailed } from '@recordbus/shared/errors';

/** The parameters of a vector search as texts and numbers (interface §4.5). */
interface NearParameters {
  readonly nearVector?: string | undefined;
  readonly nearVectorField?: string | undefined;
  readonly nearLimit: number;
  readonly nearMinScore?: number | undefined;
}

/** What is searched for. */
export interface Near {
  readonly field: Field;
  readonly dimensions: number;
  readonly vector: Float64Array;
  /** How many rows at most. */
  readonly limit: number;
  readonly minScore: number;
}

/**
 * Reads the parameters; undefined when no search is asked for. Throws 400 for a vector that is no JSON array and a field
 * that can't be searched, 422 for a vector of another length or not of finite numbers (contract §2).
 */
export function readNear(parameters: NearParameters, collection: Collection): Near | undefined {
  const { nearVector, nearVectorField, nearLimit, nearMinScore = Number.NEGATIVE_INFINITY } = parameters;
  if (nearVector === undefined && nearVectorField === undefined) return undefined;
  if (nearVector === undefined) throw refused('nearVector', 'is required with nearVectorField');
  const members = parseArray(nearVector);
  if (nearVectorField === undefined) throw refused('nearVectorField', 'is required with nearVector');
  const field = collection.fields.find(({ name }) => name === nearVectorField);
  const dimensions = field?.options.dimensions;
  if (field?.type !== 'vector' || typeof dimensions !== 'number' || isSealed(field))
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

const refused = (parameter: string, problem: string) => malformed(`${parameter}: ${problem}`, { parameter });

import { conflict } from '@recordbus/errors';

/** Thrown when another request has created the record meanwhile. The unit is rolled back, and a new one finds it. */
export const recordTaken = new Error('another request has created the record');

/**
 * When requests for one place come at the same time, one creates the record and the others find it at their next
 * attempt.
 */
const maxAttempts = 5;

/** Runs a write's attempts, each in its own unit, until one finds the record or creates it. */
export async function retryWhileTaken<T>(attempt: () => Promise<T>): Promise<T> {
  for (let left = maxAttempts; left > 0; left -= 1) {
    try {
      return await attempt();
    } catch (error) {
      if (error !== recordTaken) throw error;
    }
  }
  throw conflict('record_changing', 'other requests keep creating and deleting this record; send it again');
}

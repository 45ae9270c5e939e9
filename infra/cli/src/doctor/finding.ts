import { messageOf } from '@recordbus/errors';
/** An examination's result. */
export interface Finding {
  /** What was examined: "database", "event stream". */
  readonly subject: string;
  /** `broken` does not work, `warning` may stop working, `skipped` could not be examined. */
  readonly verdict: 'ok' | 'warning' | 'broken' | 'skipped';
  readonly says: string;
  /** What to do about it. */
  readonly advice?: string;
}

export const fine = (subject: string, says: string): Finding => ({ subject, verdict: 'ok', says });
export const skipped = (subject: string, says: string): Finding => ({ subject, verdict: 'skipped', says });
export const warning = (subject: string, says: string, advice: string): Finding => ({
  subject,
  verdict: 'warning',
  says,
  advice,
});
export const broken = (subject: string, says: string, advice: string): Finding => ({
  subject,
  verdict: 'broken',
  says,
  advice,
});

/** Runs an examination. An error that it throws becomes a finding. */
export async function examine(subject: string, examination: () => Promise<Finding[]>): Promise<Finding[]> {
  try {
    return await examination();
  } catch (error) {
    const reason = messageOf(error);
    return [broken(subject, reason, 'The other findings may show the reason.')];
  }
}

/** What an examination found. */
export interface Finding {
  /** What was looked at: "database", "event stream". */
  readonly subject: string;
  /** `broken` does not work, `warning` works and will not for ever, `skipped` could not be looked at. */
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

/** The findings of an examination; one that throws is itself a finding. */
export async function examine(subject: string, examination: () => Promise<Finding[]>): Promise<Finding[]> {
  try {
    return await examination();
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return [broken(subject, reason, 'The other lines may say why.')];
  }
}

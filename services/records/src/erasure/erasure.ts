import { type DataJob, showDataJob } from '../data-jobs/data-job.ts';
import type { Certificate } from '../jobs/certificate.ts';

/** What an erasure does beside the records themselves. */
export interface ErasureOptions {
  /** Whether earlier versions go, or stay without their values. */
  readonly history: 'purge' | 'redact';
  /** Whether the job waits until the bytes of all files are gone. */
  readonly files: boolean;
  readonly dry_run: boolean;
}

/** The counts in a certificate. */
export type ErasureCounts = Record<
  'records' | 'history' | 'files' | 'previews' | 'deliveries' | 'events' | 'requests' | 'audit' | 'mails',
  number
>;

export const noCounts: ErasureCounts = {
  records: 0,
  history: 0,
  files: 0,
  previews: 0,
  deliveries: 0,
  events: 0,
  requests: 0,
  audit: 0,
  mails: 0,
};

/** What later steps need from earlier ones. */
export interface ErasureProgress {
  readonly counts?: ErasureCounts;
  /** The erased accounts' addresses, in lower case. */
  readonly emails?: readonly string[];
  /** Those of them that the accounts had proved: an unproved one may be another person's. */
  readonly provedEmails?: readonly string[];
  /** Records that could not be deleted, of many: the reasons, and how many there were. */
  readonly refused?: { readonly count: number; readonly reasons: readonly string[] };
  /** Whether another job erases the rest. */
  readonly isHandedOn?: boolean;
  /** Exports of the erased accounts: the job ends when their archives' bytes are gone. */
  readonly archives?: readonly string[];
  /** The id of a transaction that began after the last delete, as text. */
  readonly marked?: string;
}

export type ErasureJob = DataJob<ErasureOptions, ErasureProgress, Certificate>;

/** Shows an erasure's job, with the certificate once there is one. */
export const showErasure = (job: ErasureJob) => ({
  ...showDataJob(job, {
    total: job.result?.records ?? job.progress.counts?.records ?? 0,
    bytes: 0,
    options: { ...job.options, ...(job.record_id !== null && { id: job.record_id }) },
  }),
  certificate: job.result,
});

import { wholeNumber } from '@recordbus/process/config';
import { setting, settingGroup } from './setting.ts';

export const records = settingGroup('Records', ['auth', 'records'], {
  'records.read_timeout_ms': setting(
    wholeNumber(10, 60_000),
    '5000',
    'Time limit for a statement in a read, or in a write that checks a rule, in milliseconds; then the request is refused as too expensive.',
  ),
  'records.max_answer_bytes': setting(
    wholeNumber(1024, 134_217_728),
    '33554432',
    'Largest answer with records, history, expand or a batch, in bytes; a larger one is refused.',
  ),
  'jobs.max_pending': setting(
    wholeNumber(1, 100_000_000),
    '1000000',
    "How many of one extension's jobs may wait. Further ones are refused.",
  ),
  'jobs.max_body_bytes': setting(wholeNumber(1024, 1_099_511_627_776), '10737418240', 'Largest import body, in bytes.'),
  'records.export_timeout_ms': setting(
    wholeNumber(1000, 86_400_000),
    '900000',
    'Time limit for an export, in milliseconds; then its connection is cut.',
  ),
  'batch.max_operations': setting(wholeNumber(1, 10_000), '1000', 'Maximum operations in a batch.'),
});

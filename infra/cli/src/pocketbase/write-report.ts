import { type MoveReport, reportPage } from '@recordbus/pocketbase-move';
import { CommandFailure } from '@recordbus/stack-calls';
import { writeFileAtomically } from '../write-file-atomically.ts';

/** Writes a report as a page or as JSON, by the file's name. */
export async function writeReport(file: string, report: MoveReport): Promise<void> {
  if (/\.html?$/i.test(file)) await writeFileAtomically(file, reportPage(report));
  else if (/\.json$/i.test(file)) await writeFileAtomically(file, `${JSON.stringify(report, null, 2)}\n`);
  else throw new CommandFailure(`The report ${file} must end in .html or .json.`);
}

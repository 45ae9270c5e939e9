const unreleased = '## Unreleased';

/**
 * Gives what is unreleased a version and a date (`2026-11-29`), below an empty section for what comes next. Throws when
 * nothing is unreleased, or when the version has a section already.
 */
export function cutSection(changelog: string, version: string, date: string): string {
  if (hasSection(changelog, version)) throw new Error(`CHANGELOG.md has a section ${version} already.`);
  if (sectionOf(changelog, 'Unreleased') === '') throw new Error('CHANGELOG.md has nothing under "Unreleased".');
  return changelog.replace(`${unreleased}\n`, `${unreleased}\n\n## ${version} - ${date}\n`);
}

/** Whether the changelog has a version's section. */
export const hasSection = (changelog: string, version: string): boolean =>
  changelog.split('\n').some((line) => isHeadingOf(line, version));

/** Returns the text below a version's heading, or below "Unreleased". Throws when there is no such heading. */
export function sectionOf(changelog: string, name: string): string {
  const lines = changelog.split('\n');
  const start = lines.findIndex((line) => isHeadingOf(line, name));
  if (start < 0) throw new Error(`CHANGELOG.md has no section ${name}.`);
  const length = lines.slice(start + 1).findIndex((line) => line.startsWith('## '));
  return lines
    .slice(start + 1, length < 0 ? undefined : start + 1 + length)
    .join('\n')
    .trim();
}

const isHeadingOf = (line: string, name: string): boolean => line === `## ${name}` || line.startsWith(`## ${name} - `);

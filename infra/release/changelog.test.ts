import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cutSection, hasSection, sectionOf } from './changelog.ts';

const changelog = `# Changelog

## Unreleased

### Added

- Search.

## 0.2.0 - 2026-11-29

### Fixed

- A lock.
`;

test('what is unreleased gets a version and a date, and the next section is empty', () => {
  const cut = cutSection(changelog, '0.3.0', '2027-01-31');
  assert.match(
    cut,
    /^# Changelog\n\n## Unreleased\n\n## 0\.3\.0 - 2027-01-31\n\n### Added\n\n- Search\.\n\n## 0\.2\.0/,
  );
  assert.equal(sectionOf(cut, 'Unreleased'), '');
  assert.equal(sectionOf(cut, '0.3.0'), '### Added\n\n- Search.');
  assert.equal(sectionOf(cut, '0.2.0'), sectionOf(changelog, '0.2.0'));
});

test('a section ends at the next heading or with the file', () => {
  assert.equal(sectionOf(changelog, 'Unreleased'), '### Added\n\n- Search.');
  assert.equal(sectionOf(changelog, '0.2.0'), '### Fixed\n\n- A lock.');
});

test('a version that only begins like another one has no section', () => {
  assert.ok(hasSection(changelog, '0.2.0'));
  assert.ok(!hasSection(changelog, '0.2'));
  assert.throws(() => sectionOf(changelog, '0.2'), /no section 0\.2/);
});

test('a version is not cut twice, and nothing is no release', () => {
  assert.throws(() => cutSection(changelog, '0.2.0', '2026-11-30'), /has a section 0\.2\.0 already/);
  const cut = cutSection(changelog, '0.3.0', '2027-01-31');
  assert.throws(() => cutSection(cut, '0.4.0', '2027-02-28'), /nothing under "Unreleased"/);
});

import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { objectAt, textAt } from '../json.ts';
import { whenThisProcessEnds } from '../processes/child.ts';

const answers = (...args: readonly string[]): boolean => spawnSync('docker', args, { stdio: 'ignore' }).status === 0;

/** The reason to skip tests with Docker; false if there is Docker. */
export const skipWithoutDocker: string | false =
  answers('compose', 'version') && answers('version')
    ? false
    : 'docker compose, or the engine behind it, does not answer';

/** A deployment by docker-compose.yml, separate from all others on this machine. */
interface ComposeProject extends AsyncDisposable {
  /** Variables that give `docker compose` in the clone this project's name, image and port. */
  readonly environment: Readonly<Record<string, string>>;
}

/** Names a project for a clone. When the test or its process ends, its containers, volumes and image are removed. */
export function nameComposeProject(clone: string, publishedPort: number): ComposeProject {
  const name = `recordbus-test-${randomBytes(4).toString('hex')}`;
  const override = join(clone, '..', `${name}.json`);
  writeFileSync(override, JSON.stringify(withImage(name, join(clone, 'docker-compose.yml'))));
  const environment = {
    COMPOSE_PROJECT_NAME: name,
    COMPOSE_FILE: ['docker-compose.yml', override].join(':'),
    PUBLISHED_PORT: String(publishedPort),
  };
  const env = { ...process.env, ...environment, COMPOSE_PROFILES: 'cli' };
  const removal = [
    'docker compose down --volumes --remove-orphans --timeout 1',
    `docker image rm ${name}`,
    // Compose builds the image for each service, and one build gets the tag.
    `docker image prune --force --filter label=com.docker.compose.project=${name}`,
  ].join(';');
  const release = whenThisProcessEnds(removal, [], { cwd: clone, env });
  return {
    environment,
    async [Symbol.asyncDispose]() {
      release();
      spawnSync('sh', ['-c', removal], { cwd: clone, env, stdio: 'ignore' });
    },
  };
}

/** The services, with another name for the product's image, so that the machine's image keeps its name. */
function withImage(name: string, composeFile: string): unknown {
  const services = objectAt(parse(readFileSync(composeFile, 'utf8'), { merge: true }), 'services');
  const own = Object.keys(services).filter((service) => textAt(services, `${service}.image`) === 'recordbus');
  return { services: Object.fromEntries(own.map((service) => [service, { image: name }])) };
}

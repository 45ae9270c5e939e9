import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** The pinned versions of the generators, and of the libraries that their clients need. */
export const versions = {
  oapiCodegen: 'v2.8.2',
  oapiRuntime: 'v1.9.0',
  ogen: 'v1.24.0',
  openapiGenerator: '7.25.0',
  openapiPythonClient: '0.29.1',
  openapiTypescript: '7.13.0',
  openapiFetch: '0.17.0',
  typescript: '5.9.3',
} as const;

/**
 * The folder with the tools. `TEST_GENERATORS` names it, and the test then installs what is missing; without it the tools
 * are those on PATH.
 */
const folder = process.env.TEST_GENERATORS;

const inFolder = (...parts: string[]): string => join(folder ?? '/nowhere', ...parts);

/** Every tool's environment: the folder's tools come before those on PATH. */
export const toolEnvironment: NodeJS.ProcessEnv = {
  ...process.env,
  PATH: [inFolder('bin'), inFolder('venv', 'bin'), inFolder('node_modules', '.bin'), process.env.PATH].join(delimiter),
  NODE_PATH: inFolder('node_modules'),
  GOFLAGS: '-mod=mod',
};

/** Runs a command, and rejects with its output if it fails. Resolves with what it printed. */
export function run(directory: string, command: string, ...args: readonly string[]): Promise<string> {
  const child = spawn(command, args, { cwd: directory, env: toolEnvironment });
  const output: Buffer[] = [];
  const errors: Buffer[] = [];
  child.stdout.on('data', (chunk: Buffer) => output.push(chunk));
  child.stderr.on('data', (chunk: Buffer) => errors.push(chunk));
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => {
      const text = Buffer.concat(output).toString();
      if (code === 0) resolve(text);
      else reject(new Error(`${command} ${args.join(' ')}: ${Buffer.concat(errors)}${text}`.slice(0, 4000)));
    });
  });
}

/** A generator's tool: where to find it, and how to install it into the folder. */
export interface Tool {
  readonly name: string;
  /** A command that succeeds if the tool is there. */
  readonly probe: readonly [string, ...string[]];
  /** The commands that install it. */
  readonly install: readonly (readonly [string, ...string[]])[];
}

/** Returns why a tool cannot be had; undefined when it is there. Installs it first if there is a folder for it. */
export function findMissing({ name, probe: [command, ...args], install }: Tool): string | undefined {
  const isThere = (): boolean => spawnSync(command, args, { env: toolEnvironment }).status === 0;
  if (isThere()) return undefined;
  if (folder === undefined) return `needs ${name} on PATH, or TEST_GENERATORS=<folder> to install it`;
  mkdirSync(folder, { recursive: true });
  for (const [program, ...given] of install) {
    const { status, stderr } = spawnSync(program, given, {
      cwd: folder,
      env: { ...toolEnvironment, GOBIN: inFolder('bin') },
    });
    if (status !== 0) return `${name} cannot be installed: ${program}: ${String(stderr ?? '').slice(-300)}`;
  }
  return isThere() ? undefined : `${name} is not there after its installation`;
}

const venv = (): (readonly [string, ...string[]])[] =>
  existsSync(inFolder('venv')) ? [] : [['python3', '-m', 'venv', inFolder('venv')]];

/** npm packages, in one installation. */
const packages = [
  `openapi-typescript@${versions.openapiTypescript}`,
  `openapi-fetch@${versions.openapiFetch}`,
  `typescript@${versions.typescript}`,
];

/** openapi-generator's jar. */
export const jar =
  process.env.TEST_OPENAPI_GENERATOR_JAR ?? inFolder(`openapi-generator-cli-${versions.openapiGenerator}.jar`);

export const tools = {
  go: { name: 'go', probe: ['go', 'version'], install: [] },
  oapiCodegen: {
    name: 'oapi-codegen',
    probe: ['oapi-codegen', '--version'],
    install: [['go', 'install', `github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@${versions.oapiCodegen}`]],
  },
  ogen: {
    name: 'ogen',
    probe: ['ogen', '--version'],
    install: [['go', 'install', `github.com/ogen-go/ogen/cmd/ogen@${versions.ogen}`]],
  },
  openapiGenerator: {
    name: `java and openapi-generator-cli ${versions.openapiGenerator}`,
    probe: ['java', '-jar', jar, 'version'],
    install: [
      [
        'mvn',
        '-q',
        'dependency:copy',
        `-Dartifact=org.openapitools:openapi-generator-cli:${versions.openapiGenerator}:jar`,
        `-DoutputDirectory=${inFolder('.')}`,
      ],
    ],
  },
  openapiPythonClient: {
    name: 'openapi-python-client',
    probe: ['openapi-python-client', '--version'],
    get install() {
      return [...venv(), ['pip', 'install', '-q', `openapi-python-client==${versions.openapiPythonClient}`] as const];
    },
  },
  pythonLibraries: {
    name: 'the Python packages of openapi-generator (pydantic, urllib3, python-dateutil, typing-extensions)',
    probe: ['python3', '-c', 'import pydantic, urllib3, dateutil, typing_extensions'],
    get install() {
      return [
        ...venv(),
        ['pip', 'install', '-q', 'pydantic>=2', 'urllib3', 'python-dateutil', 'typing-extensions'] as const,
      ];
    },
  },
  npmPackages: {
    name: packages.join(', '),
    probe: ['openapi-typescript', '--version'],
    install: [['npm', 'install', '--silent', '--no-save', '--prefix', inFolder('.'), ...packages]],
  },
} satisfies Record<string, Tool>;

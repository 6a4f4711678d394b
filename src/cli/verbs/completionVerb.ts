import { exitCodes } from '../../service/exitCodes.js'
import { configOptions, otherFlagsHelp, readArguments } from '../input/arguments.js'
import { UsageError, type Verb } from '../input/verb.js'

const SHELLS = ['bash', 'zsh', 'fish'] as const

/** What the shell completes: each command with its first words and flags. */
export interface Completions {
  readonly [verb: string]: readonly string[]
}

/** @param completions loads what there is to complete. */
export function completionVerb(completions: () => Promise<Completions>): Verb {
  return {
    help: [
      'Usage: bds completion bash|zsh|fish',
      '',
      'Prints a script that has the shell complete commands and flags. For bash: bds completion bash > /etc/bash_completion.d/bds;',
      'for zsh: a file _bds in a folder of $fpath; for fish: ~/.config/fish/completions/bds.fish.',
    ].join('\n'),
    async run(args) {
      const { words } = readArguments(args, {}, 1)
      const [shell] = words
      switch (shell) {
        case 'bash':
          console.log(bashScript(await completions()))
          return exitCodes.ok
        case 'zsh':
          // zsh runs the functions of bash, with its own `compgen`.
          console.log(
            `#compdef bds\nautoload -U +X bashcompinit && bashcompinit\n${bashScript(await completions())}`,
          )
          return exitCodes.ok
        case 'fish':
          console.log(fishScript(await completions()))
          return exitCodes.ok
        default:
          throw new UsageError(`expected bds completion ${SHELLS.join('|')}`)
      }
    },
  }
}

/** Words and flags in the usage lines of a verb's help, flags that its help lists, and those of the configuration where it refers to them. */
export function wordsOfHelp(verb: string, help: string): string[] {
  const usages = help.split('\n').filter((line) => /^(Usage:| {6,7}) *bds /.test(line))
  const actions = usages.flatMap(
    (line) => new RegExp(`bds ${verb} ([a-z][a-z|-]*)`).exec(line)?.[1]?.split('|') ?? [],
  )
  const flags = help.match(/--[a-z][a-z0-9-]*/g) ?? []
  const refers = otherFlagsHelp.every((line) => help.includes(line))
  const ofConfiguration = refers ? Object.keys(configOptions).map((name) => `--${name}`) : []
  return [...new Set([...actions, ...flags, ...ofConfiguration, '--help'])]
}

function bashScript(completions: Completions): string {
  const cases = Object.entries(completions).map(
    ([verb, words]) => `    ${verb}) words='${words.join(' ')}' ;;`,
  )
  return [
    '_bds() {',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the shell's own syntax
    '  local words current="${COMP_WORDS[COMP_CWORD]}" before="${COMP_WORDS[COMP_CWORD-1]}"',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the shell's own syntax
    '  case "${COMP_WORDS[1]} $before" in *" -c"|*" --config"|*" --to"|*" --out"|*" --data-dir"|"restore --from") COMPREPLY=($(compgen -f -- "$current")); return ;; esac',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the shell's own syntax
    '  case "${COMP_WORDS[1]}" in',
    ...cases,
    '  esac',
    `  if [ "$COMP_CWORD" -eq 1 ]; then words='${Object.keys(completions).join(' ')}'; fi`,
    '  COMPREPLY=($(compgen -W "$words" -- "$current"))',
    '}',
    'complete -o default -F _bds bds',
  ].join('\n')
}

function fishScript(completions: Completions): string {
  return [
    `complete -c bds -n __fish_use_subcommand -f -a '${Object.keys(completions).join(' ')}'`,
    ...Object.entries(completions).flatMap(([verb, words]) =>
      words.map((word) =>
        word.startsWith('--')
          ? `complete -c bds -n '__fish_seen_subcommand_from ${verb}' -l ${word.slice(2)}`
          : `complete -c bds -n '__fish_seen_subcommand_from ${verb}' -f -a ${word}`,
      ),
    ),
  ].join('\n')
}

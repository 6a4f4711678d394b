#!/bin/sh
# The program `bds`: Node with what it takes only from outside the process. What is already in the environment wins.

# npm puts a link to this file on the path.
folder=$(dirname "$(readlink -f "$0")")

# glibc gives large buffers back to the system: docs/operations.md, "Memory".
MALLOC_MMAP_THRESHOLD_=${MALLOC_MMAP_THRESHOLD_-131072}
export MALLOC_MMAP_THRESHOLD_

# Threads of V8 that collect garbage and compile for all others. Node starts four on every machine, and where processors are few they
# keep the threads that answer waiting: docs/operations.md, "Helper threads of V8". One for four processors, up to the four of Node.
case " ${NODE_OPTIONS-}" in
*--v8-pool-size* | *--v8_pool_size*) exec node "$folder/bds.js" "$@" ;;
esac
processors=$(nproc 2>/dev/null || getconf _NPROCESSORS_ONLN 2>/dev/null || echo 16)
# The quota of a container: microseconds of processor time in a period of so many, or `max`.
set_quota() {
  [ "$1" = max ] || [ $(($1 / $2)) -ge "$processors" ] || processors=$(($1 / $2))
}
quota=$(cat /sys/fs/cgroup/cpu.max 2>/dev/null) && [ -n "$quota" ] && set_quota $quota
helpers=$((processors / 4))
[ "$helpers" -ge 1 ] || helpers=1
[ "$helpers" -le 4 ] || helpers=4
exec node "--v8-pool-size=$helpers" "$folder/bds.js" "$@"

#!/usr/bin/env bash
# Starts an S3 server that checks signatures: a Ceph of one node (a monitor, and a store in memory)
# with its gateway. Usage: rgw.sh FOLDER PORT MONITOR_PORT ACCESS_KEY SECRET_KEY OWNER. Everything is
# below FOLDER; the process ids are in `pids` beside it. It ends when the process OWNER has ended.
set -euo pipefail
trap 'tail -n 3 "$folder"/*.out >&2' ERR
folder=$1 port=$2 monitor_port=$3 access_key=$4 secret_key=$5 owner=$6
conf=$folder/ceph.conf pids=$(dirname "$folder")/pids
mkdir -p "$folder"/{mon,osd,run}
cluster=$(cat /proc/sys/kernel/random/uuid)
cat >"$conf" <<CONF
[global]
fsid = $cluster
mon host = [v1:127.0.0.1:$monitor_port]
public addr = 127.0.0.1
ms bind ipv6 = false
auth cluster required = none
auth service required = none
auth client required = none
osd pool default size = 1
osd pool default min size = 1
osd pool default pg num = 1
osd crush chooseleaf type = 0
mon allow pool size one = true
mon data avail crit = 1
mon osd full ratio = 0.99
run dir = $folder/run
admin socket = $folder/run/\$name.\$pid.asok
log file = $folder/\$name.log
keyring = $folder/keyring
mon data = $folder/mon
osd data = $folder/osd
osd objectstore = memstore
memstore device bytes = 4294967296
[client.rgw]
rgw frontends = beast endpoint=127.0.0.1:$port tcp_nodelay=1
rgw thread pool size = 64
rgw dns name = s3.test
rgw enable usage log = false
rgw enable ops log = false
rgw enable lc threads = false
rgw enable quota threads = false
rgw run sync thread = false
CONF

# background NAME COMMAND...: its process id is in $started
background() {
  local name=$1
  shift
  setsid "$@" -c "$conf" --foreground >"$folder/$name.out" 2>&1 </dev/null &
  started=$!
  echo "$started" >>"$pids"
}
ceph-authtool --create-keyring "$folder/keyring" --gen-key -n mon. --cap mon 'allow *' >/dev/null
ceph-authtool "$folder/keyring" --gen-key -n client.admin \
  --cap mon 'allow *' --cap osd 'allow *' >/dev/null
monmaptool --create --fsid "$cluster" --addv a "[v1:127.0.0.1:$monitor_port]" \
  "$folder/monmap" >/dev/null
ceph-mon -c "$conf" --mkfs -i a --monmap "$folder/monmap" --keyring "$folder/keyring"
background mon ceph-mon -i a
osd=$(cat /proc/sys/kernel/random/uuid)
ceph -c "$conf" --connect-timeout 60 osd new "$osd" >/dev/null
ceph-osd -c "$conf" -i 0 --mkfs --osd-uuid "$osd" >"$folder/osd.mkfs.out" 2>&1
background osd ceph-osd -i 0
osd_id=$started
background rgw radosgw -n client.rgw
setsid bash -c "
  while kill -0 $owner 2>/dev/null; do sleep 2; done
  xargs kill -9 <$pids
  rm -rf $(dirname "$folder")
" >/dev/null 2>&1 </dev/null &

answers() { (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; }
for _ in $(seq 1 300); do
  if answers; then break; fi
  # A store that sends its first command before it has the monitor's map is refused ("wrong fsid"),
  # and ends. The gateway waits for it.
  if ! kill -0 "$osd_id" 2>/dev/null; then
    background osd ceph-osd -i 0
    osd_id=$started
  fi
  sleep 0.2
done
answers
timeout 20 radosgw-admin -c "$conf" user create --uid=falconry --display-name=falconry \
  --access-key="$access_key" --secret-key="$secret_key" >/dev/null 2>"$folder/user.out"

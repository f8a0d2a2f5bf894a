# Builds a guard and runs one program in it. Rules in docs/spec/guard.md.
#
#   perl guard.pl PLAN PROGRAM ARGUMENT...
#
# PLAN holds fields that end in NUL: settings (name, value), "env", the environment, "do", the steps. It is removed once
# it is read; "&3" is not a file but descriptor 3. Three processes: this one stays outside the process namespace and ends as the program did; a first one
# inside builds what is seen there, then only takes in orphans; the last becomes the program. When any of them ends,
# so does all that runs inside.
my ($from, @program) = @ARGV;
my ($settings, $environment, @steps) = read_plan($from);
my %number = map { split /=/ } split / /, $settings->{numbers};
my ($IS_PTY, $IS_USER) = ($settings->{terminal} eq "own", $settings->{user});
my $IS_JOB = $settings->{terminal} eq "kept";
my ($has_terminal, $modes);

# What whoever starts us has open is seen from outside: a directory among it would lead back there.
kernel("close_range", 3, 0x7fffffff, 0) == 0 or fail("close_range");
enter_namespaces();
kernel("prctl", 1, 9) unless $IS_PTY;
pipe(my $told, my $tell) or fail("pipe");
pipe(my $waits, my $go) or fail("pipe");
my $first = fork() // fail("fork");
take_care_of_the_rest() if $first == 0;
close $tell;
my $trouble = do { local $/; <$told> };
if (defined $trouble && $trouble ne "") { say_and_end($trouble) }
$SIG{HUP} = "IGNORE" if $IS_PTY;
my $shell = fork() // fail("fork");
become_the_program() if $shell == 0;
watch();

sub read_plan {
  my ($path) = @_;
  my $descriptor = $path =~ /^&(\d+)$/ ? $1 : undef;
  open(my $in, defined $descriptor ? "<&=" : "<", $descriptor // $path) or die "$path: $!\n";
  binmode $in;
  my @fields = split /\0/, do { local $/; <$in> } // "", -1;
  pop @fields;
  close $in;
  if (!defined $descriptor) { unlink $path }
  elsif ($descriptor == 0) { open(STDIN, "<", "/dev/null") or die "/dev/null: $!\n" }
  my (%settings, %environment);
  while ((my $name = shift @fields) ne "env") { $settings{$name} = shift @fields }
  while ((my $entry = shift @fields) ne "do") {
    my ($name, $value) = split /=/, $entry, 2;
    $environment{$name} = $value;
  }
  return (\%settings, \%environment, @fields);
}

sub fail { die "$_[0]: $!\n" }

# Perl hands strings over by address, and only those that may be written to; numbers must have been used as such.
sub kernel {
  my ($name, @with) = @_;
  my @arguments = (@with, (0) x 6)[0 .. 5];
  return syscall($number{$name}, $arguments[0], $arguments[1], $arguments[2], $arguments[3], $arguments[4], $arguments[5]);
}

sub enter_namespaces {
  my ($uid, $gid) = ($>, (split / /, $))[0]);
  kernel("unshare", 0 + $settings->{namespaces}) == 0 or fail("unshare");
  return bring_loopback_up() unless $IS_USER;
  put("/proc/self/setgroups", "deny");
  put("/proc/self/uid_map", "$uid $uid 1");
  put("/proc/self/gid_map", "$gid $gid 1");
  bring_loopback_up();
}

sub bring_loopback_up {
  return if $settings->{network};
  socket(my $socket, 2, 2, 0) or fail("socket");
  my $request = pack("a16 s x22", "lo", 0x41);
  ioctl($socket, 0x8914, $request) or fail("loopback");
}

sub put {
  my ($path, $text) = @_;
  open(my $out, ">", $path) or fail($path);
  (syswrite($out, $text) // -1) == length $text or fail($path);
  close $out;
}

# Of the process namespace the first, which hears no signal that it hasn't asked for.
sub take_care_of_the_rest {
  kernel("prctl", 1, 9);
  close $_ for $told, $waits, $go;
  eval { build(); 1 } or do { syswrite($tell, $@); exit 1 };
  $SIG{CHLD} = "IGNORE";
  chdir "/";
  give_up_rights();
  close $_ for $tell, *STDIN, *STDOUT, *STDERR;
  sleep 1_000_000 while 1;
}

sub build {
  my %slot;
  my $here = -100;
  my $attribute = sub {
    my ($directory, $path, $flags, $set, $clear) = @_;
    kernel("mount_setattr", $directory, $path, $flags, pack("Q4", $set, $clear, 0, 0), 32) == 0 or fail("read-only $path");
  };
  my %step = (
    private => [0, sub { kernel("mount", "none", "/", 0, 0x44000, 0) == 0 or fail("private") }],
    seal_all => [0, sub { $attribute->($here, "/", 0x8000, 1, 0) }],
    seal => [1, sub { $attribute->($here, $_[0], 0, 1, 0) }],
    # Of a link the link itself.
    clone => [2, sub {
      my ($name, $path) = @_;
      my $tree = kernel("open_tree", $here, $path, 0x8101);
      $tree >= 0 or fail("clone $path");
      $slot{$name} = $tree;
    }],
    terminal => [1, sub { $slot{$_[0]} = kernel("open_tree", $here, readlink("/proc/self/fd/0"), 1) }],
    place => [3, sub {
      my ($name, $path, $how) = @_;
      my $empty = "";
      $attribute->($slot{$name}, $empty, 0x9000, 1, 0) if $how eq "read_only";
      kernel("move_mount", $slot{$name}, $empty, $here, $path, 4) == 0 or fail("place $path");
      kernel("close", delete $slot{$name});
    }],
    tmpfs => [2, sub { kernel("mount", "tmpfs", $_[0], "tmpfs", 6, "mode=$_[1]") == 0 or fail("tmpfs $_[0]") }],
    # It may be gone since it was looked for; then there is nothing to hide.
    hide => [2, sub { kernel("mount", "tmpfs", $_[0], "tmpfs", 6, "mode=$_[1]") == 0 or $! == 2 or fail("tmpfs $_[0]") }],
    proc => [1, sub { kernel("mount", "proc", $_[0], "proc", 14, 0) == 0 or fail("proc") }],
    devpts => [1, sub {
      kernel("mount", "devpts", $_[0], "devpts", 10, "newinstance,ptmxmode=0666,mode=0620") == 0 or fail("devpts");
    }],
    mkdir => [2, sub { mkdir($_[0]) && chmod(oct $_[1], $_[0]) or fail($_[0]) }],
    file => [1, sub { put($_[0], "") }],
    link => [2, sub { symlink($_[0], $_[1]) or fail($_[1]) }],
  );
  while (@steps) {
    my ($arity, $do) = @{ $step{ shift @steps } };
    $do->(splice @steps, 0, $arity);
  }
}

sub become_the_program {
  close $_ for $told, $go;
  sysread($waits, my $nothing, 1);
  close $waits;
  if ($IS_PTY) {
    kernel("setsid");
    ioctl(STDIN, 0x540E, 0);
  } elsif (!$IS_JOB) {
    kernel("setsid");
  }
  $SIG{$_} = "DEFAULT" for qw(HUP INT QUIT CHLD);
  kernel("prctl", 36, 1);
  chdir $settings->{cwd} or leave("$settings->{cwd}: $!");
  give_up_rights();
  %ENV = %$environment;
  exec { $program[0] } @program or leave("$program[0]: $!");
}

sub leave {
  syswrite(STDERR, "sidestick: $_[0]\r\n");
  exit 126;
}

sub give_up_rights {
  if ($IS_USER) { kernel("prctl", 38, 1) == 0 or leave("no_new_privs: $!") }
  if ($settings->{landlock}) {
    my $rules = kernel("landlock_create_ruleset", pack("Q3", 0, 0, 1), 24, 0);
    $rules >= 0 && kernel("landlock_restrict_self", $rules, 0) == 0 or leave("landlock: $!");
  }
  if ($settings->{filter}) {
    my $filter = pack("H*", $settings->{filter});
    my $program = pack("S x6 P", length($filter) / 8, $filter);
    kernel("prctl", 22, 2, $program) == 0 or leave("seccomp: $!");
  }
  return if $IS_USER;
  my %kept = map { $_ => 1 } split / /, $settings->{capabilities};
  for my $capability (0 .. 63) {
    next if $kept{$capability};
    last if kernel("prctl", 24, $capability) != 0;
  }
  kernel("prctl", 47, 4);
  my ($header, $data) = (pack("LL", 0x20080522, 0), pack("L6", (0) x 6));
  syscall($number{capget}, $header, $data) == 0 or leave("capget: $!");
  my @sets = unpack("L6", $data);
  @sets[2, 5] = (0, 0);
  kernel("capset", $header, pack("L6", @sets)) == 0 or leave("capset: $!");
}

# In a terminal of its own: who runs is told before its first byte, then the terminal is the program's.
sub watch {
  if ($IS_PTY) {
    syswrite(STDOUT, "$shell $first\n");
    ioctl(STDIN, 0x5422, 0);
    close $_ for *STDIN, *STDOUT, *STDERR;
    close $_ for $told, $waits, $go;
    wait_for($shell);
  }
  my $status = $IS_PTY ? $? : look_after_the_job();
  kill 9, $first;
  wait_for($first);
  my $signal = $status & 127;
  take_terminal_back($signal) unless $IS_PTY;
  if ($signal) {
    kernel("prctl", 4, 0);
    $SIG{(split / /, $settings->{signals})[$signal]} = "DEFAULT";
    kill $signal, $$;
    sleep 1;
  }
  exit($signal ? 128 + $signal : $status >> 8);
}

# Others may have made themselves our children (CLONE_PARENT): the namespace's first can't end while one of its processes
# waits for us to ask for it.
sub wait_for {
  my ($child) = @_;
  my $ended;
  do { $ended = waitpid(-1, 0) } until $ended == $child || ($ended < 0 && $! != 4);
}

# As a shell does: the program has a group of its own, so that it can't signal whoever runs beside us, and the terminal
# while we have it. What we are told by signals it is told; when it stops, so do we, until somebody lets us go on.
sub look_after_the_job {
  setpgrp($shell, $shell) if $IS_JOB;
  $SIG{TTOU} = "IGNORE";
  for my $name (qw(INT QUIT TERM HUP USR1 USR2)) {
    $SIG{$name} = sub { kill $name, -$shell };
  }
  $SIG{TSTP} = sub { kill "STOP", -$shell };
  ioctl(STDIN, 0x5401, $modes = "\0" x 64) or undef $modes;
  give_terminal();
  close $_ for $told, $waits, $go;
  while (1) {
    my $status = next_change();
    return $status unless ($status & 0xff) == 0x7f;
    take_terminal_back(0);
    {
      local $SIG{TSTP} = "DEFAULT";
      kill "TSTP", 0;
    }
    give_terminal();
    kill "CONT", -$shell;
  }
}

# Perl's own waitpid doesn't tell who stopped from who ended.
sub next_change {
  my ($status, $changed) = (pack("l", 0), 0);
  until ($changed == $shell) {
    $changed = syscall($number{wait4}, -1, $status, 2, 0);
    $changed >= 0 || $! == 4 or fail("wait");
  }
  return unpack("l", $status);
}

# Only if it is ours to give: a job in the background leaves it to others.
sub give_terminal {
  my $front = pack("l", 0);
  return unless $IS_JOB && ioctl(STDIN, 0x540F, $front) && unpack("l", $front) == getpgrp;
  $has_terminal = ioctl(STDIN, 0x5410, pack("l", $shell));
}

sub take_terminal_back {
  my ($signal) = @_;
  return unless $has_terminal;
  $has_terminal = 0;
  ioctl(STDIN, 0x5410, pack("l", getpgrp));
  ioctl(STDIN, 0x5403, $modes) if $signal && defined $modes;
}

sub say_and_end {
  my ($text) = @_;
  wait_for($first);
  chomp $text;
  syswrite($IS_PTY ? *STDOUT : *STDERR, $IS_PTY ? "!$text\n" : "sidestick: no guard: $text\n");
  exit 125;
}

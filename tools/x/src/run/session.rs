//! One run of the emulator, from its start to its end.

use super::emulator::Emulator;
use super::ending::{Ending, limit};
use super::log_line::{Splitter, parse};
use super::monitor::Monitor;
use super::observed::Observed;
use super::requests::Requests;
use super::streams::{Event, follow, listen_to_console, listen_to_log};
use super::view::View;
use super::{emulated::Folder, transcript::Transcript};
use crate::cli::RunArguments;
use crate::stop;
use anyhow::Result;
use std::io::Write as _;
use std::os::unix::net::UnixStream;
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

const TICK: Duration = Duration::from_millis(100);
/// How long the machine may take to switch itself off after Pillion's last line, and the emulator
/// to end after that, when plug-ins write their results.
const GRACE: Duration = Duration::from_secs(5);
/// How long Linux may take to switch itself off when the user leaves.
const LEAVING: Duration = Duration::from_secs(20);
/// The key that leaves: Ctrl-].
const ESCAPE: u8 = 0x1d;

/// How a run ended.
pub struct Ended {
    /// What happened in it.
    pub observed: Observed,
    /// What was written on the serial lines.
    pub transcript: Transcript,
}

/// Runs the emulator with these arguments.
pub fn run(run: &RunArguments, arguments: &[String], folder: &Folder, ending: Ending) -> Result<Ended> {
    let (sender, events) = channel();
    listen_to_console(&folder.console(), sender.clone())?;
    listen_to_log(&folder.log(), sender.clone())?;
    let mut emulator = Emulator::start(&run.qemu, arguments)?;
    if let Some(messages) = emulator.messages() {
        follow(messages, &sender, Event::Message);
    }
    let mut session = Session {
        run,
        view: View::open(run)?,
        observed: Observed { without_linux: !ending.linux, ..Observed::default() },
        transcript: Transcript::create(run)?,
        lines: Splitter::default(),
        console: None,
        monitor: Monitor::new(folder, &run.when),
        requests: Requests::new(folder),
        ending,
        started: Instant::now(),
        stop: None,
        closed: 0,
    };
    if !run.headless {
        follow(std::io::stdin(), &sender, Event::Input);
    }
    drop(sender);
    session.work(&events, &mut emulator)?;
    session.view.close();
    Ok(Ended { observed: session.observed, transcript: session.transcript })
}

struct Session<'a> {
    run: &'a RunArguments,
    view: View,
    observed: Observed,
    transcript: Transcript,
    lines: Splitter,
    console: Option<UnixStream>,
    monitor: Monitor,
    requests: Requests,
    ending: Ending,
    started: Instant,
    stop: Option<Instant>,
    closed: usize,
}

impl Session<'_> {
    fn work(&mut self, events: &Receiver<Event>, emulator: &mut Emulator) -> Result<()> {
        while !self.over() {
            let event = events.recv_timeout(TICK).ok();
            let quiet = event.is_none();
            self.transcript.answer(&self.monitor.answers());
            if let Some(event) = event {
                self.take(event);
            }
            self.view.show(&self.observed, self.started.elapsed());
            if let Some(size) = self.view.size().filter(|_| self.hears_requests()) {
                self.requests.size(size, self.observed.inits);
            }
            if quiet && emulator.ended()? {
                break;
            }
        }
        Ok(())
    }

    fn take(&mut self, event: Event) {
        match event {
            Event::Connected(stream) => self.console = Some(stream),
            Event::Console(bytes) => {
                self.transcript.console(&bytes);
                self.view.console(&bytes);
                self.look_for_login();
            }
            Event::Log(bytes) => self.take_log(&bytes),
            Event::Input(bytes) => self.take_input(&bytes),
            Event::Message(bytes) => self.transcript.message(&bytes),
            Event::Closed => self.take_end_of_line(),
        }
    }

    fn take_log(&mut self, bytes: &[u8]) {
        self.transcript.log(bytes);
        for line in self.lines.push(bytes) {
            if let Some(wrong) = self.monitor.line(&line) {
                self.observed.cut_short = Some(format!("the emulator's monitor did not take {wrong}"));
            }
            if self.run.direct {
                self.observed.take_note(&line, self.started.elapsed().as_nanos() as u64);
            } else if let Some(line) = parse(&line) {
                self.observed.take(line);
            } else {
                self.observed.take_text(&line);
            }
        }
        if self.observed.end.is_some() && self.stop.is_none() {
            self.stop = Some(Instant::now() + GRACE);
        }
        self.look_for_no_end();
    }

    /// Stops a run that Linux, because it stays off, can no longer end, and nothing else can.
    fn look_for_no_end(&mut self) {
        if self.ending.others || self.stop.is_some() {
            return;
        }
        if let Some(why) = self.observed.off_for_good() {
            self.observed.complaints.push(why.to_owned());
            self.stop = Some(Instant::now() + GRACE);
        }
    }

    fn take_end_of_line(&mut self) {
        self.closed += 1;
        if self.closed == 2 && self.stop.is_none() {
            self.stop = Some(Instant::now() + GRACE);
        }
    }

    /// A full system on a disk is up when it prompts for a login.
    fn look_for_login(&mut self) {
        if self.run.disk.is_some() && !self.observed.login && self.transcript.console_tail().contains("login: ") {
            self.observed.login = true;
            self.observed.state = "login".into();
            if self.run.headless {
                self.stop = Some(Instant::now() + Duration::from_secs(self.run.load_seconds().into()));
            }
        }
    }

    fn take_input(&mut self, bytes: &[u8]) {
        let end = bytes.iter().position(|byte| *byte == ESCAPE);
        if let Some(console) = &mut self.console {
            let _ = console.write_all(&bytes[..end.unwrap_or(bytes.len())]);
        }
        if end.is_some() {
            self.leave();
        }
    }

    /// Whether a Linux is up that reads the lines of requests.
    fn hears_requests(&self) -> bool {
        self.observed.state == "up" && self.run.disk.is_none()
    }

    /// Gives Linux, and Pillion after it, a moment to end in order: they report what was measured
    /// then. A second request ends the run at once.
    fn leave(&mut self) {
        let asked = self.stop.is_none() && self.hears_requests() && self.requests.leave().is_ok();
        self.stop = Some(Instant::now() + if asked { LEAVING } else { Duration::ZERO });
        if asked {
            self.observed.state = "is being switched off; Ctrl-] again leaves at once".into();
        }
    }

    /// Whether it is time to stop the emulator.
    fn over(&mut self) -> bool {
        if stop::wanted() {
            self.observed.cut_short = Some("interrupted".into());
        } else if let Some(limit) = limit(self.run).filter(|limit| self.started.elapsed() > *limit) {
            let after = limit.as_secs();
            self.observed.cut_short = Some(format!("the run was given up after {after} s; --timeout N allows more"));
        }
        self.observed.cut_short.is_some() || self.stop.is_some_and(|stop| Instant::now() >= stop)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::run_arguments;
    use crate::run::result::RunResult;
    use std::fs::File;
    use std::thread;

    fn arguments(words: &[&str]) -> RunArguments {
        run_arguments(&[&["--headless", "--qemu", "/bin/sleep"], words].concat())
    }

    /// A machine that writes `log` and switches itself off; the process in its place only sleeps.
    fn play(words: &[&str], log: &'static str) -> (RunArguments, Ended) {
        play_by(arguments(words), &["1"], log)
    }

    /// The same with another process in its place.
    fn play_by(run_arguments: RunArguments, process: &[&str], log: &'static str) -> (RunArguments, Ended) {
        let folder = tempfile::tempdir().unwrap();
        let (console_path, log_path) = (Folder(folder.path()).console(), Folder(folder.path()).log());
        let machine = thread::spawn(move || {
            while !log_path.exists() {
                thread::sleep(Duration::from_millis(5));
            }
            let mut console = UnixStream::connect(console_path).unwrap();
            console.write_all(b"Linux says hello\r\n").unwrap();
            let mut pipe = File::options().write(true).open(log_path).unwrap();
            pipe.write_all(log.as_bytes()).unwrap();
        });
        let process: Vec<String> = process.iter().map(|&word| word.into()).collect();
        let ending = Ending { linux: true, others: false };
        let ended = run(&run_arguments, &process, &Folder(folder.path()), ending).unwrap();
        machine.join().unwrap();
        (run_arguments, ended)
    }

    fn failures((run, ended): &(RunArguments, Ended)) -> Vec<String> {
        let passenger =
            serde_json::from_str(r#"{"key":"","image":"","initrd":"","release":"6.1","vmlinuz_sha256":"00"}"#);
        let passenger = passenger.unwrap();
        RunResult { run, observed: &ended.observed, passenger: Some(&passenger), version: "7.2" }.failures()
    }

    const GOOD: &str = r#"pillion: a line for people
{"pillion":"boot","t_ns":1,"emulated":true}
{"pillion":"linux","event":"start","t_ns":100,"boot":1}
{"pillion":"linux","event":"note","t_ns":4100,"text":"init"}
{"pillion":"linux","event":"init","t_ns":4101,"boot":1}
{"pillion":"linux","event":"note","t_ns":5000,"text":"load disk start"}
{"pillion":"status","name":"demo","samples":9,"min_ns":1,"avg_ns":2,"max_ns":3,"overruns":0}
{"pillion":"linux","event":"note","t_ns":6000,"text":"load disk ok 8 MiB"}
{"pillion":"linux","event":"note","t_ns":6001,"text":"done"}
{"pillion":"linux","event":"poweroff","t_ns":6002,"boot":1}
{"pillion":"task","name":"demo","period_ns":100000,"samples":10,"min_ns":1,"avg_ns":2,"p99_ns":3,"p9999_ns":3,"max_ns":3,"overruns":0,"histogram":[[0,9],[2,1]]}
{"pillion":"exits","reasons":{"port":5}}
{"pillion":"end","t_ns":7000,"status":"ok"}
"#;

    #[test]
    fn a_good_run_is_good() {
        let played = play(&["--load", "disk"], GOOD);
        assert_eq!(failures(&played), Vec::<String>::new());
        let observed = &played.1.observed;
        assert_eq!((observed.tasks.len(), observed.start_ns, observed.init_ns), (1, Some(100), Some(4100)));
        assert!(played.1.transcript.console_tail().contains("hello"));
    }

    #[test]
    fn a_run_without_its_end_is_bad() {
        let half = GOOD.split_once("{\"pillion\":\"linux\",\"event\":\"note\",\"t_ns\":6000").unwrap().0;
        let failures = failures(&play(&["--load", "disk,net"], half));
        assert_eq!(failures.len(), 4, "{failures:?}");
    }

    #[test]
    fn what_an_emulator_does_at_its_end_is_waited_for() {
        let written = tempfile::NamedTempFile::new().unwrap();
        let process = format!("sleep 0.5; echo counts > {}", written.path().display());
        let shell = RunArguments { qemu: "/bin/sh".into(), ..arguments(&["--load", "disk"]) };
        play_by(shell, &["-c", &process], GOOD);
        assert_eq!(std::fs::read_to_string(written.path()).unwrap(), "counts\n");
    }

    /// The process would sleep for longer than the test may take.
    #[test]
    fn a_linux_that_stays_off_is_not_waited_for() {
        let (before, _) = GOOD.split_once("{\"pillion\":\"task\"").unwrap();
        let log = format!("{before}{{\"pillion\":\"linux\",\"event\":\"off\",\"t_ns\":6003,\"boot\":1}}\n");
        let begun = Instant::now();
        let played = play_by(arguments(&["--load", "disk"]), &["60"], log.leak());
        assert!(begun.elapsed() < 3 * GRACE);
        let failures = failures(&played);
        assert_eq!(failures.len(), 2, "{failures:?}");
        assert!(failures[0].contains("after_poweroff = \"end\""), "{failures:?}");
    }

    #[test]
    fn what_never_ends_is_stopped() {
        let folder = tempfile::tempdir().unwrap();
        let run_arguments = arguments(&["--timeout", "1"]);
        let ending = Ending { linux: true, others: true };
        let ended = run(&run_arguments, &["60".into()], &Folder(folder.path()), ending).unwrap();
        let said = ended.observed.cut_short.as_deref();
        assert_eq!(said, Some("the run was given up after 1 s; --timeout N allows more"));
    }
}

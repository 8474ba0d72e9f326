use super::*;
use crate::constants::ReturnCode;
use crate::handle::{ObjectHandle, SessionHandle};

#[test]
fn the_handle_of_a_closed_session_stays_invalid() {
    let table = SessionTable::default();
    let first = table.open(0, 4).unwrap();
    table.close(first).unwrap();
    let second = table.open(0, 4).unwrap();
    assert_ne!(first, second);
    assert_eq!(first.0 as u32, second.0 as u32, "the entry is used again");
    assert_eq!(table.with(first, |_| Ok(())), Err(ReturnCode::SessionHandleInvalid));
    assert_eq!(table.close(first).unwrap_err(), ReturnCode::SessionHandleInvalid);
    assert_eq!(table.with(second, |session| Ok(session.slot)), Ok(0));
    assert_eq!(table.handles(0), [second]);
}

#[test]
fn a_session_inherits_nothing_of_an_earlier_one() {
    let table = SessionTable::default();
    let first = table.open(0, 4).unwrap();
    let fill = |session: &mut Session| {
        session.search = Some(vec![ObjectHandle(2)]);
        session.encrypt = ActiveOperation::Busy;
        session.digest = ActiveOperation::Busy;
        session.message_verify = ActiveOperation::Busy;
        session.has_objects = true;
        session.waker = Some(std::task::Waker::noop().clone());
        session.pending.push(PendingCall {
            function: "C_Sign",
            computation: Box::pin(std::future::ready(Ok(CallResult::default()))),
            max_len: 0,
            next_piece_of: None,
        });
        Ok(())
    };
    table.with(first, fill).unwrap();
    let closed = table.close(first).unwrap();
    assert!(closed.has_objects && closed.flags == 4);
    let second = table.open(1, 6).unwrap();
    let new = Session { slot: 1, flags: 6, ..Session::default() };
    let shown = table.with(second, |session| Ok(format!("{session:?}")));
    assert_eq!(shown, Ok(format!("{new:?}")));
}

#[test]
fn no_handle_is_made_up() {
    let table = SessionTable::default();
    for handle in [0, 1, 1 << 32, u64::MAX] {
        let found = table.with(SessionHandle(handle), |_| Ok(()));
        assert_eq!(found, Err(ReturnCode::SessionHandleInvalid));
    }
}

#[test]
fn an_operation_is_idle_active_or_with_a_thread() {
    let mut operation = ActiveOperation::Idle;
    assert_eq!(operation.take(), Err(ReturnCode::OperationNotInitialized));
    operation.begin(7).unwrap();
    assert_eq!(operation.begin(8), Err(ReturnCode::OperationActive));
    assert_eq!(operation.take(), Ok(Box::new(7)));
    assert_eq!(operation.take(), Err(ReturnCode::OperationActive));
    operation.put_back(Some(Box::new(9)));
    assert_eq!(operation.take(), Ok(Box::new(9)));
    operation.put_back(None);
    assert_eq!(operation.take(), Err(ReturnCode::OperationNotInitialized));
}

#[test]
fn an_operation_cancelled_during_a_step_does_not_come_back() {
    let mut operation = ActiveOperation::Active(Box::new(1));
    operation.take().unwrap();
    operation = ActiveOperation::Idle;
    operation.put_back(Some(Box::new(2)));
    assert_eq!(operation.take(), Err(ReturnCode::OperationNotInitialized));
}
